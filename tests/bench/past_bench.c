/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * past_bench.c - past_bench [DIRECTORY [HOURS [logs]]]: what questions about hours of a busy
 * machine cost, two weeks of them if nothing else is said, which are written there (by default a
 * directory that is removed) unless they are there.
 *
 * In each hour there are a compiler, of whose 120,000 contexts some 50,000 are met, twelve servers
 * and 300 small processes of thirty programs. For one hour and a day the same is done as it was
 * before there were logs: files of pprof are read, and added up; not so with `logs`.
 */
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/profile/copy.h"
#include "common/profile/merge.h"
#include "common/render/format.h"
#include "common/render/render_order.h"
#include "common/wire/wire.h"
#include "daemon/history/history.h"

#define HOUR      3600u
#define PERIOD_NS 10000000u
#define DEPTH     60u
#define SERVERS   12u
#define SMALL     300u
#define PROGRAMS  30u

static uint64_t state;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double fraction(void) {
    return (double)(draw() >> 11) * 0x1p-53;
}

/* A program: contexts that it can be in, parents first, and how often it is. */
struct program {
    char exe[64];
    unsigned n, functions, places;
    unsigned *parent; /* 0: the root */
    unsigned *place;
    double *samples; /* in an hour, on average */
};

static void make_program(struct program *program, const char *name, unsigned n, unsigned functions,
                         double samples) {
    unsigned depth = 0, above[DEPTH + 1] = {0};
    double sum = 0;
    snprintf(program->exe, sizeof program->exe, "/usr/bin/%s", name);
    program->n = n;
    program->functions = functions;
    program->places = 5 * functions;
    program->parent = calloc(n + 1, sizeof *program->parent);
    program->place = calloc(n + 1, sizeof *program->place);
    program->samples = calloc(n + 1, sizeof *program->samples);
    for (unsigned i = 1; i <= n; i++) {
        if (depth == DEPTH || fraction() < 0.4)
            depth = depth > 0 ? (unsigned)(fraction() * depth) : 0;
        program->parent[i] = above[depth];
        above[++depth] = i;
        program->place[i] = (unsigned)(draw() % program->places);
        program->samples[i] = 1 / pow(1 + fraction() * n, 0.9);
        sum += program->samples[i];
    }
    for (unsigned i = 1; i <= n; i++)
        program->samples[i] *= samples / sum;
}

static unsigned poisson(double mean) {
    unsigned n = 0;
    if (mean > 50)
        return (unsigned)(mean + sqrt(mean) * (fraction() + fraction() + fraction() - 1.5) * 2);
    for (double left = exp(-mean), p = fraction(); p > left; p *= fraction())
        n++;
    return n;
}

static uint32_t add_place(struct profile *profile, uint32_t module, const struct program *program,
                          unsigned place) {
    char name[160], file[96];
    unsigned function = place / 5;
    uint32_t location = profile_add_location(profile, module, 0x1000 + 16u * place, place % 5 == 0);
    if (profile->locations[location].n_lines > 0)
        return location;
    snprintf(name, sizeof name, "%s::part_%u::a_function_%u<std::vector<unsigned int> >(unsigned)",
             program->exe + 9, function % 97, function);
    snprintf(file, sizeof file, "/build/%s/src/part_%u.cc", program->exe + 9, function % 97);
    struct profile_line line = {profile_add_function(profile, name, name, file, 10 * function),
                                10 * function + place % 5};
    profile_set_lines(profile, location, &line, 1);
    return location;
}

static void add_process(struct profile *profile, const struct program *program, uint32_t pid,
                        double part) {
    char build_id[41];
    struct profile_process process = {.exe = program->exe,
                                      .command = program->exe + 9,
                                      .tags = "",
                                      .pid = pid,
                                      .runs = pid != 0 ? 1 : 400,
                                      .live = pid != 0,
                                      .clock = "cpu",
                                      .collector = "walks",
                                      .threads = 1};
    uint32_t *node = calloc(program->n + 1, sizeof *node);
    unsigned *samples = calloc(program->n + 1, sizeof *samples);
    bool *met = calloc(program->n + 1, sizeof *met);
    uint64_t total = 0;
    snprintf(build_id, sizeof build_id, "%08x%032x", program->n, program->functions);
    for (unsigned i = program->n; i > 0; i--) {
        samples[i] = poisson(part * program->samples[i]);
        total += samples[i];
        met[i] |= samples[i] > 0;
        met[program->parent[i]] |= met[i];
    }
    process.total = process.cpu_ns = total * PERIOD_NS;
    process.walks = process.complete = process.drawn = process.drawn_squares = total;
    process.unseen = 5 * PERIOD_NS;
    uint32_t number = profile_add_process(profile, &process);
    uint32_t module = profile_add_module(profile, program->exe, build_id);
    uint32_t pruned = profile_add_pseudo(profile, PROFILE_PRUNED);
    node[0] = profile_root(profile, number);
    for (unsigned i = 1; i <= program->n; i++) {
        if (!met[i])
            continue;
        node[i] = profile_add_node(profile, node[program->parent[i]],
                                   add_place(profile, module, program, program->place[i]),
                                   (uint64_t)samples[i] * PERIOD_NS,
                                   samples[i] > 0 && draw() % 20 == 0 ? PERIOD_NS : 0);
        if (samples[i] > 3 && draw() % 50 == 0)
            profile_add_node(profile, node[i], pruned, PERIOD_NS, 0);
    }
    free(node);
    free(samples);
    free(met);
}

static struct profile *make_hour(const struct program *programs, uint64_t begin_s) {
    struct profile *profile = profile_new();
    profile->type = "cpu";
    profile->unit = "nanoseconds";
    profile->summary = "lss";
    profile->phi = 1e-4;
    profile->epsilon = 2e-5;
    profile->period = PERIOD_NS;
    profile->time_ns = begin_s * 1000000000;
    profile->duration_ns = profile->window_ns = HOUR * 1000000000ull;
    state = 0x9e3779b97f4a7c15 ^ begin_s;
    add_process(profile, &programs[0], 0, 1);
    for (unsigned i = 1; i <= SERVERS; i++)
        add_process(profile, &programs[i], 100 + i, 1);
    for (unsigned i = 0; i < SMALL; i++)
        add_process(profile, &programs[1 + SERVERS + i % PROGRAMS], 1000 + i, 1);
    return profile;
}

static void write_hour(const struct program *programs, uint64_t begin_s) {
    struct profile *profile = make_hour(programs, begin_s);
    const struct history_cell cell = {.begin_s = begin_s,
                                      .end_s = begin_s + HOUR,
                                      .weight = profile_total(profile),
                                      .uid = getuid(),
                                      .collector = WIRE_COLLECT_WALKS,
                                      .clock = WIRE_CLOCK_CPU};
    FILE *out = history_begin(&cell);
    if (out == NULL || !write_pprof(out, profile, &format_default_options) ||
        !history_commit(out, true)) {
        perror("an hour can't be written");
        exit(1);
    }
    profile_free(profile);
}

static void make_programs(struct program *programs) {
    char name[32];
    state = 1;
    make_program(&programs[0], "cc1plus", 120000, 5000, 360000);
    for (unsigned i = 1; i <= SERVERS; i++) {
        snprintf(name, sizeof name, "server-%u", i);
        make_program(&programs[i], name, 300 * i, 60 * i, 3600);
    }
    for (unsigned i = 0; i < PROGRAMS; i++) {
        snprintf(name, sizeof name, "small-%u", i);
        make_program(&programs[1 + SERVERS + i], name, 60 + 5 * i, 30 + i, 100);
    }
}

/* ---- questions ---- */

static double cpu_ms(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static bool sees_all(const void *unused, uid_t uid) {
    (void)unused, (void)uid;
    return true;
}

static bool wants(const void *exe, const struct profile_process *process) {
    return exe == NULL || strcmp(process->exe, exe) == 0;
}

/* What an answer as text takes beyond its profile: of hcctd, which hands it over, and of the
 * renderer. */
static void ask_text(struct profile *profile) {
    int order = memfd_create("order", MFD_CLOEXEC), answer = memfd_create("answer", MFD_CLOEXEC);
    double before = cpu_ms(), given_ms;
    struct render_order read;
    FILE *out = fdopen(order, "w+"), *text = fdopen(answer, "w");
    render_order_write(format_find("text"), out, 0, profile, &format_default_options, RENDER_AFTER);
    given_ms = cpu_ms() - before;
    before = cpu_ms();
    if (!render_order_read(out, &read) || !read.format->write(text, read.profile, &read.options))
        exit(1);
    printf("%-28s %39.0f ms to hand over, %.0f ms to render\n", "- as text", given_ms,
           cpu_ms() - before);
    render_order_free(&read);
    fclose(out);
    fclose(text);
}

static void ask(const char *name, uint64_t from_s, uint64_t to_s, const char *exe) {
    const struct history_choice choice = {wants, exe};
    char error[256];
    size_t n, n_parts, bad;
    double before = cpu_ms(), read_ms;
    struct history_cell *cells = history_list(from_s, to_s, sees_all, NULL, &n);
    struct history_part *parts = history_read(cells, n, &choice, true, &n_parts);
    struct merge_part *some = calloc(n_parts + 1, sizeof *some);
    struct profile *sum = n_parts == 1 ? parts[0].profile : NULL;
    read_ms = cpu_ms() - before;
    for (size_t i = 0; i < n_parts; i++)
        some[i] = (struct merge_part){parts[i].profile, parts[i].trees};
    if (n_parts == 1)
        merge_finish(sum, parts[0].trees);
    else if (n_parts > 1)
        sum = merge_parts(some, n_parts, &bad, error, sizeof error);
    printf("%-28s %4zu hours, %7u contexts: %6.0f ms to read, %6.0f ms in all\n", name, n,
           sum != NULL ? sum->n_nodes : 0, read_ms, cpu_ms() - before);
    for (size_t i = 0; i < n_parts; i++) {
        if (parts[i].profile != sum)
            profile_free(parts[i].profile);
        free(parts[i].trees);
    }
    if (sum != NULL)
        ask_text(sum);
    profile_free(sum);
    free(some);
    free(parts);
    free(cells);
}

/* Each hour in a file of pprof, of which only the reading counts. */
static void ask_files(const char *name, const struct program *programs, uint64_t from_s,
                      unsigned hours) {
    struct profile **parts = calloc(hours, sizeof *parts), *sum;
    char *text, error[256];
    size_t bytes, bad;
    uint64_t all = 0;
    double spent = 0, before;
    for (unsigned i = 0; i < hours; i++) {
        struct profile *profile = make_hour(programs, from_s + i * HOUR);
        FILE *out = open_memstream(&text, &bytes);
        write_pprof(out, profile, &format_default_options);
        fclose(out);
        profile_free(profile);
        all += bytes;
        before = cpu_ms();
        profile = read_pprof(text, bytes, error, sizeof error);
        parts[i] = copy_processes(profile, wants, NULL);
        profile_free(profile);
        spent += cpu_ms() - before;
        free(text);
    }
    before = cpu_ms();
    sum = merge_profiles((const struct profile *const *)parts, hours, &bad, error, sizeof error);
    spent += cpu_ms() - before;
    printf("%-28s %4u hours, %7u contexts: %26.0f ms in all, %.0f kB an hour\n", name, hours,
           sum->n_nodes, spent, (double)all / 1e3 / hours);
    profile_free(sum);
    for (unsigned i = 0; i < hours; i++)
        profile_free(parts[i]);
    free(parts);
}

static void ask_all(const struct program *programs, bool files) {
    size_t n;
    uint64_t bytes = 0, begin, end;
    struct history_cell *cells = history_list(0, UINT64_MAX, sees_all, NULL, &n);
    if (n == 0)
        return;
    begin = cells[0].begin_s;
    end = cells[n - 1].end_s;
    for (size_t i = 0; i < n; i++)
        bytes += cells[i].bytes;
    printf("%zu hours: %.0f kB each, without their words\n", n, (double)bytes / 1e3 / (double)n);
    free(cells);
    if (files)
        ask_files("an hour, files of pprof", programs, end - HOUR, 1);
    ask("an hour", end - HOUR, end, NULL);
    ask("an hour, one program", end - HOUR, end, "/usr/bin/server-3");
    if (n >= 72) {
        uint64_t day = end / 86400 * 86400 - 86400;
        if (files)
            ask_files("a day, files of pprof", programs, day, 24);
        ask("a day", day, day + 86400, NULL);
        ask("a day, from noon to noon", day - 43200, day + 43200, NULL);
    }
    ask("all", begin, end, NULL);
    ask("all but 5 hours on each side", begin + 5 * HOUR, end - 5 * HOUR, NULL);
    ask("all, one program", begin, end, "/usr/bin/server-3");
    printf("memory in use at the end: %.1f MB\n", (double)mallinfo2().uordblks / 1e6);
}

int main(int argc, char **argv) {
    static struct program programs[1 + SERVERS + PROGRAMS];
    char own[] = "/tmp/hcct-bench-XXXXXX", command[64];
    unsigned hours = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 336;
    const char *directory = argc > 1 ? argv[1] : mkdtemp(own);
    size_t n;
    if (directory == NULL ||
        !history_open(directory, 256u << 20, &(struct history_earlier){0, 0})) {
        perror("the directory");
        return 1;
    }
    make_programs(programs);
    free(history_list(0, UINT64_MAX, sees_all, NULL, &n));
    for (unsigned hour = hours; hour > 0 && n == 0; hour--)
        write_hour(programs, 1794614400u - hour * HOUR);
    ask_all(programs, argc <= 3);
    snprintf(command, sizeof command, "rm -rf '%s'", own);
    return argc > 1 ? 0 : system(command);
}
