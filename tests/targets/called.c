/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * called.c - computes for a while under names that are hard to tell.
 *
 *   called               as it was executed
 *   called renamed       gives itself another name, and overwrites its arguments
 *   called gone          removes the file that it was executed by
 *   called bare FILE     executes FILE without any argument, not even argv[0]
 *   called opened FILE   executes FILE by a descriptor, with argv[0] "/opt/by-argument"
 */
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define COMPUTE_NS 300000000

extern char **environ;

static void compute(void) {
    volatile unsigned long sum = 0;
    struct timespec used;
    do {
        for (unsigned i = 0; i < 100000; i++)
            sum += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_sec == 0 && used.tv_nsec < COMPUTE_NS);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "renamed") == 0) {
        prctl(PR_SET_NAME, "other", 0, 0, 0);
        memset(argv[0], 'x', strlen(argv[0]));
        memset(argv[1], 'y', strlen(argv[1]));
    } else if (strcmp(how, "gone") == 0) {
        unlink((const char *)getauxval(AT_EXECFN));
    } else if (strcmp(how, "bare") == 0 && argc == 3) {
        execve(argv[2], (char *[]){NULL}, environ);
        return 1;
    } else if (strcmp(how, "opened") == 0 && argc == 3) {
        int fd = open(argv[2], O_RDONLY | O_CLOEXEC);
        fexecve(fd, (char *[]){"/opt/by-argument", NULL}, environ);
        return 1;
    }
    compute();
    return 0;
}
