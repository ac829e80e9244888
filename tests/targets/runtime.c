/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * runtime.c - stands for a language's runtime: prints its arguments and variables, one a line, uses
 * some CPU time, and writes a perf map where it is told to. With KNOWS its file has the options
 * that node has.
 *
 * FAKE_MAP: `old` gives the map an old date, `link` makes it a symbolic link to /dev/null.
 * FAKE_LOGS: as node does it leaves logs where it runs, and files beside them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#ifdef KNOWS
const char *const options[] = {"--perf-basic-prof", "--interpreted-frames-native-stack"};
#endif

static void print_variable(const char *name) {
    const char *value = getenv(name);
    if (value != NULL)
        printf("%s=%s\n", name, value);
}

static int writes_map(int argc, char **argv) {
    const char *node = getenv("NODE_OPTIONS"), *python = getenv("PYTHONPERFSUPPORT");
    for (int i = 1; i < argc; i++)
        if (strstr(argv[i], "DumpPerfMapAtExit") != NULL)
            return 1;
    return (node != NULL && strstr(node, "prof") != NULL) ||
           (python != NULL && strcmp(python, "1") == 0);
}

static void write_map(void) {
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    const char *how = getenv("FAKE_MAP");
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    unlink(path);
    printf("map=%s\n", path);
    if (how != NULL && strcmp(how, "link") == 0) {
        if (symlink("/dev/null", path) != 0)
            exit(99);
        return;
    }
    FILE *map = fopen(path, "w");
    if (map == NULL)
        exit(99);
    fputs("1000 100 function\n", map);
    fclose(map);
    if (how != NULL)
        utimensat(AT_FDCWD, path, old, 0);
}

static void write_log(const char *begin, const char *end) {
    char name[128];
    snprintf(name, sizeof name, "isolate%s-%d%s", begin, (int)getpid(), end);
    FILE *file = fopen(name, "w");
    if (file == NULL)
        exit(99);
    fclose(file);
}

/* Two of isolates of this process, and what is another's, nobody's, or older. */
static void write_logs(void) {
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    char name[64];
    write_log("-0x2a9f", "-v8.log");
    write_log("0x7f00", "-v8.log");
    write_log("-0x2a9f", "0-v8.log");
    write_log("-0xxyz", "-v8.log");
    write_log("-0x2a9f", "-v8.log.gz");
    write_log("-0x01d", "-v8.log");
    snprintf(name, sizeof name, "isolate-0x01d-%d-v8.log", (int)getpid());
    utimensat(AT_FDCWD, name, old, 0);
}

int main(int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        printf("%s\n", argv[i]);
    print_variable("NODE_OPTIONS");
    print_variable("PYTHONPERFSUPPORT");
    print_variable("JAVA_TOOL_OPTIONS");
    print_variable("JDK_JAVA_OPTIONS");
    if (writes_map(argc, argv))
        write_map();
    if (getenv("FAKE_LOGS") != NULL)
        write_logs();
    while (clock() < CLOCKS_PER_SEC / 20)
        ;
    return 3;
}
