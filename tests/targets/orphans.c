/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * orphans.c - leaves children to process 1, again and again, and says how many of them are zombies.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ORPHANS 50

static void leave_one(void) {
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            usleep(10000);
            _exit(0);
        }
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static int is_zombie(const char *pid) {
    char path[300], text[256] = "";
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    const char *state = strrchr(text, ')');
    return state != NULL && state[1] == ' ' && state[2] == 'Z';
}

static int zombies(void) {
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    int n = 0;
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (atoi(entry->d_name) > 0)
            n += is_zombie(entry->d_name);
    if (directory != NULL)
        closedir(directory);
    return n;
}

int main(void) {
    volatile unsigned x = 0;
    for (int i = 0; i < ORPHANS; i++)
        leave_one();
    for (int tries = 0; tries < 500 && zombies() > 0; tries++)
        usleep(10000);
    int left = zombies();
    while (clock() < CLOCKS_PER_SEC / 2)
        x++;
    printf("%d zombies\n", left);
    return left == 0 ? 7 : 1;
}
