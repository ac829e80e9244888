/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * runtime_names.c - a table of runtimes and their options.
 *
 * node: in NODE_OPTIONS. It passes its arguments on to workers and children (process.execArgv), and
 * refuses a worker that is given these. It starts with no option that its own list of what may be
 * in NODE_OPTIONS does not have: the words of that list are searched in its file, or in the
 * libnode.so that it is linked with. That costs milliseconds, and runs nothing; `node --version`
 * would run the user's program a second time, and say less.
 * java: arguments, as it prints a line about each of its variables. Its options are searched in its
 * libjvm.so.
 * python has none: with its own support for perf each Python call takes a C stack frame, so that
 * recursion ends earlier (at a depth of some 750 in 3.12.1), and calls take longer. The agent reads
 * its functions without that (HCCT_PYTHON).
 */
#include "client/commands/runtime_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/commands/call_files.h"
#include "client/program_file.h"
#include "common/base/options.h"
#include "common/wire/compiler.h"

#define WORDS_MAX 8 /* with the NULL at the end */

struct runtime_option {
    const char *text;  /* what is added */
    const char *key;   /* a user who writes this has said what he wants; '_' is '-' */
    const char *known; /* a string in the runtime's file, NULL: none is needed */
    bool maps;         /* makes it write perf maps */
};

struct runtime {
    const char *name;
    const char *variable; /* where the options go; NULL: they are arguments */
    struct runtime_option options[RUNTIME_OPTIONS_MAX];
    const char *settings[WORDS_MAX];   /* variables in which its user may have given options */
    const char *forbidding[WORDS_MAX]; /* options of a user's beside which ours are not given */
    const char *logging[WORDS_MAX];    /* those that ask for the log which perf maps bring */
    bool logs;                         /* perf maps bring one */
    bool (*is)(const char *name);      /* by the file name of the program */
    /* Whether the runtime whose program this is has all strings that are to be known. */
    bool (*knows)(const struct program_file *program, const struct runtime_option *options);
};

/* ---- what a file has ---- */

static bool has_strings(const char *path, const struct runtime_option *options) {
    struct stat status;
    bool has = true;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    size_t bytes = regular ? (size_t)status.st_size : 0;
    const char *file = regular ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (file == MAP_FAILED)
        return false;
    for (size_t i = 0; i < RUNTIME_OPTIONS_MAX && has; i++)
        has = options[i].known == NULL || /* the string with its end */
              memmem(file, bytes, options[i].known, strlen(options[i].known) + 1) != NULL;
    munmap((void *)(uintptr_t)file, bytes);
    return has;
}

/* ---- node ---- */

static bool is_node(const char *name) {
    return strcmp(name, "node") == 0 || strcmp(name, "nodejs") == 0;
}

struct node_library {
    const struct runtime_option *options;
    bool has;
};

static void search_library(void *arg, const struct call_file *file) {
    struct node_library *library = arg;
    const char *slash = strrchr(file->path, '/');
    if (slash != NULL && strncmp(slash, "/libnode.so", strlen("/libnode.so")) == 0)
        library->has |= has_strings(file->path, library->options);
}

static bool node_knows(const struct program_file *program, const struct runtime_option *options) {
    struct node_library library = {.options = options};
    if (has_strings(program->path, options))
        return true;
    call_files_visit(program->path, search_library, &library);
    return library.has;
}

/* ---- java ---- */

static bool is_java(const char *name) {
    return strcmp(name, "java") == 0;
}

/* JAVA_HOME/bin/java loads JAVA_HOME/lib/server/libjvm.so. */
static bool java_knows(const struct program_file *program, const struct runtime_option *options) {
    static const char machine[] = "/lib/server/libjvm.so";
    char path[PATH_MAX + sizeof machine];
    if (realpath(program->path, path) == NULL)
        return false;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return false;
        *slash = '\0';
    }
    strcat(path, machine);
    return has_strings(path, options);
}

/* ---- the table ---- */

/* A snapshot of node's is bound to the options it was made with. */
static const struct runtime runtimes[] = {
    {.name = "node",
     .variable = "NODE_OPTIONS",
     .options = {{"--perf-basic-prof", "-perf-basic-prof", "--perf-basic-prof", true},
                 {"--interpreted-frames-native-stack", "-interpreted-frames-native-stack",
                  "--interpreted-frames-native-stack", false}},
     .settings = {"NODE_OPTIONS"},
     .forbidding = {" --snapshot-blob", " --build-snapshot"},
     .logging = {" --prof ", " --ll-prof ", " --log ", " --log-all ", " --log-code ",
                 " --log-source-code ", " --logfile"},
     .logs = true,
     .is = is_node,
     .knows = node_knows},
    {.name = "java",
     .options = {{"-XX:+PreserveFramePointer", "PreserveFramePointer", "PreserveFramePointer",
                  false},
                 /* before what it unlocks, also where the user has it: there it would be behind */
                 {"-XX:+UnlockDiagnosticVMOptions", "DumpPerfMapAtExit",
                  "UnlockDiagnosticVMOptions", false},
                 {"-XX:+DumpPerfMapAtExit", "DumpPerfMapAtExit", "DumpPerfMapAtExit", true}},
     .settings = {"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"},
     .forbidding = {" -client ", " -minimal ", " -zero ", " -XXaltjvm",
                    " -XX:-UnlockDiagnosticVMOptions"},
     .is = is_java,
     .knows = java_knows},
};

/* ---- may it write? ---- */

/* A limit of the size of files ends a program by a signal. */
static bool maps_can_be_written(void) {
    struct rlimit limit;
    return access("/tmp", W_OK | X_OK) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           limit.rlim_cur == RLIM_INFINITY;
}

/* ---- what its user says ---- */

/* The arguments and the settings, " WORD WORD VARIABLE=VALUE ", with '-' for '_'. NULL: no memory.
 * The caller frees it. */
static char *words_of(const struct runtime *runtime, char *const *argv) {
    char *words = NULL;
    size_t bytes;
    FILE *out = open_memstream(&words, &bytes);
    if (out == NULL)
        return NULL;
    for (size_t i = 1; argv[0] != NULL && argv[i] != NULL; i++)
        fprintf(out, " %s", argv[i]);
    for (size_t i = 0; i < WORDS_MAX && runtime->settings[i] != NULL; i++) {
        const char *value = getenv(runtime->settings[i]);
        if (value != NULL)
            fprintf(out, " %s= %s", runtime->settings[i], value);
    }
    fputc(' ', out);
    fclose(out);
    for (char *at = words; at != NULL && (at = strchr(at, '_')) != NULL;)
        *at = '-';
    return words;
}

static bool has_one_of(const char *words, const char *const *options) {
    for (size_t i = 0; i < WORDS_MAX && options[i] != NULL; i++)
        if (strstr(words, options[i]) != NULL)
            return true;
    return false;
}

static bool choose(struct runtime_names *names, const struct runtime *runtime, char *const *argv) {
    char *words = words_of(runtime, argv);
    bool any = false;
    if (words == NULL)
        return false;
    bool forbidden = has_one_of(words, runtime->forbidding);
    for (size_t i = 0; i < RUNTIME_OPTIONS_MAX && !forbidden; i++) {
        const struct runtime_option *option = &runtime->options[i];
        names->adds[i] = option->text != NULL && strstr(words, option->key) == NULL;
        names->maps |= names->adds[i] && option->maps;
        any |= names->adds[i];
    }
    names->logs = names->maps && runtime->logs && !has_one_of(words, runtime->logging);
    free(words);
    return any;
}

/* ---- which runtime ---- */

/* That program, when it is a runtime that knows its options. An option that is an argument can't be
 * given to the interpreter of a script. */
static const struct runtime *runtime_of(const char *command) {
    struct program_file program;
    char path[PATH_MAX];
    if (!program_file_find(command, &program) || !program.is_elf || program.is_privileged ||
        realpath(program.path, path) == NULL)
        return NULL;
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(runtimes); i++) {
        const struct runtime *runtime = &runtimes[i];
        if (runtime->is(name) && (runtime->variable != NULL || !program.is_interpreter) &&
            runtime->knows(&program, runtime->options))
            return runtime;
    }
    return NULL;
}

/* ---- what is added ---- */

/* The options that are added, behind `before`. NULL: no memory. The caller frees it. */
static char *join(const struct runtime_names *names, const char *before) {
    char *joined = NULL;
    size_t bytes;
    FILE *out = open_memstream(&joined, &bytes);
    if (out == NULL)
        return NULL;
    fputs(before, out);
    for (size_t i = 0, n = strlen(before); i < RUNTIME_OPTIONS_MAX; i++)
        if (names->adds[i])
            fprintf(out, "%s%s", n++ > 0 ? " " : "", names->runtime->options[i].text);
    fclose(out);
    return joined;
}

/* Behind argv[0]. */
static char **insert(const struct runtime_names *names, char *const *argv) {
    size_t n = 0, used = 0;
    while (argv[n] != NULL)
        n++;
    char **longer = calloc(n + RUNTIME_OPTIONS_MAX + 1, sizeof *longer);
    if (longer == NULL)
        return NULL;
    longer[used++] = argv[0];
    for (size_t i = 0; i < RUNTIME_OPTIONS_MAX; i++)
        if (names->adds[i])
            longer[used++] = (char *)(uintptr_t)names->runtime->options[i].text;
    memcpy(longer + used, argv + 1, (n - 1) * sizeof *argv);
    return longer;
}

void runtime_names_find(char *const *argv, struct runtime_names *names) {
    *names = (struct runtime_names){0};
    const struct runtime *runtime = runtime_of(argv[0]);
    if (runtime == NULL || !maps_can_be_written() || !choose(names, runtime, argv))
        return;
    names->runtime = runtime;
    if (runtime->variable == NULL) {
        names->argv = insert(names, argv);
        return;
    }
    const char *own = getenv(runtime->variable);
    names->value = join(names, own != NULL ? own : "");
}

void runtime_names_say(const struct runtime_names *names) {
    if (names->runtime == NULL)
        return;
    const char *variable = names->runtime->variable;
    char *options = join(names, "");
    complain("%s writes the names of its generated code: %s has %s (not with --no-runtime-names)",
             names->runtime->name, variable != NULL ? variable : "its command line",
             options != NULL ? options : "options for that");
    free(options);
}

void runtime_names_clear(struct runtime_names *names) {
    free(names->argv);
    free(names->value);
    *names = (struct runtime_names){0};
}

/* ---- in the command's process ---- */

/* node ends when it can't write its map, and java says so in its output. */
static bool is_in_the_way(void) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    if (lstat(path, &status) != 0)
        return errno != ENOENT;
    return !S_ISREG(status.st_mode) || status.st_uid != geteuid() || access(path, W_OK) != 0;
}

char **runtime_names_enter(const struct runtime_names *names, char **argv) {
    if (names->runtime == NULL || is_in_the_way())
        return argv;
    if (names->value != NULL)
        setenv(names->runtime->variable, names->value, 1);
    return names->argv != NULL ? names->argv : argv;
}
