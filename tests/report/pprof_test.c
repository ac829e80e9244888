/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * pprof_test.c - profile files: written and read back whole, foreign ones, damaged ones.
 */
#include "tests/check.h"

#include <inttypes.h>
#include <math.h>
#include <sys/resource.h>

#include "common/base/gzip.h"
#include "common/profile/numbers.h"
#include "common/render/format.h"
#include "common/render/pprof_comments.h"
#include "common/render/profile.pb-c.h"
#include "tests/report/sample.h"

#define MUTATIONS 6000

struct file {
    uint8_t *data; /* not compressed */
    size_t bytes;
};

static struct file write_plain(const struct profile *profile) {
    struct format_options options = format_default_options;
    char *packed, error[256];
    size_t bytes;
    FILE *out = open_memstream(&packed, &bytes);
    struct file file = {0};
    CHECK(write_pprof(out, profile, &options));
    fclose(out);
    file.data = gzip_unpack(packed, bytes, SIZE_MAX, &file.bytes, error, sizeof error);
    CHECK(file.data != NULL);
    free(packed);
    return file;
}

static void round_trip(struct profile *profile, bool same_contents) {
    struct file first = write_plain(profile), second;
    char error[256] = "", *before, *after;
    struct profile *back = read_pprof(first.data, first.bytes, error, sizeof error);
    CHECK_STR(error, "");
    CHECK(back != NULL);
    if (back != NULL) {
        second = write_plain(back);
        CHECK_UINT(first.bytes, second.bytes);
        CHECK(first.bytes == second.bytes && memcmp(first.data, second.data, first.bytes) == 0);
        CHECK_UINT(profile_total(back), profile_total(profile));
        if (same_contents) {
            before = sample_dump(profile);
            after = sample_dump(back);
            CHECK_STR(after, before);
            free(before);
            free(after);
        }
        free(second.data);
    }
    profile_free(back);
    profile_free(profile);
    free(first.data);
}

/* One address in two functions, into both of which it was inlined. */
static struct profile *two_routines(void) {
    struct profile *profile = sample_calls();
    struct profile_location place = {
        .module = 1, .address = 0x1234, .routine = 0x1200, .is_entry = false};
    struct profile_line line = {.function = profile_add_function(profile, "f", "f", "f.c", 1)};
    uint32_t root = profile_root(profile, 1);
    place.lines = &line, place.n_lines = 1;
    for (unsigned i = 0; i < 2; i++, place.routine += 0x10)
        profile_add_node(profile, root, profile_intern_location(profile, &place), 5, 0);
    profile->processes[1].total += 10;
    return profile;
}

static void test_round_trips(void) {
    round_trip(two_routines(), true);
    round_trip(sample_shell(), true);
    round_trip(sample_build(), true);
    round_trip(sample_names(), true);
    round_trip(sample_calls(), true);
    round_trip(sample_call_bursts(), true);
    round_trip(sample_empty(), true);
    round_trip(sample_deep(100000), false);
    for (uint64_t seed = 0; seed < 300; seed++)
        round_trip(sample_random(seed), false);
    round_trip(sample_none(), true);
}

/* What is known of the samples of a function; what can't be is not believed. */
static void test_effects(void) {
    struct profile *p = sample_shell(), *back;
    struct file file;
    char error[256] = "";
    uint32_t known = 0;
    for (uint32_t i = 1; i < p->n_locations; i++)
        profile_set_effects(p, i, INFINITY, 1e9f);
    p->locations[1].effect = p->locations[1].self_effect = 0;
    profile_set_effects(p, 1, 2.5f, 0.5f);
    profile_set_effects(p, 1, 1.5f, 0.75f); /* the larger of both */
    file = write_plain(p);
    back = read_pprof(file.data, file.bytes, error, sizeof error);
    CHECK(back != NULL);
    for (uint32_t i = 1; back != NULL && i < back->n_locations; i++)
        if (back->locations[i].effect != 0 || back->locations[i].self_effect != 0) {
            known++;
            CHECK(back->locations[i].effect == 2.5f && back->locations[i].self_effect == 0.75f);
        }
    CHECK_UINT(known, 1);
    profile_free(back);
    profile_free(p);
    free(file.data);
}

/* Weight of a root and locations without a line are made fit for the format. */
static void test_completion(void) {
    struct profile *p = profile_new(), *back;
    struct profile_process process = {.exe = "/bin/x", .command = "x", .runs = 1};
    uint32_t module = profile_add_module(p, "/lib/liby.so.1", ""), root;
    struct file file;
    char error[256] = "";
    p->type = "cpu";
    p->unit = "nanoseconds";
    root = profile_root(p, profile_add_process(p, &process));
    p->nodes[root].count = 7;
    profile_add_node(p, root, profile_add_location(p, module, 0x1234, true), 5, 0);
    file = write_plain(p);
    back = read_pprof(file.data, file.bytes, error, sizeof error);
    CHECK(back != NULL);
    CHECK_UINT(profile_total(back), 12);
    CHECK_UINT(back->nodes[profile_root(back, 1)].count, 0);
    CHECK_STR(back->functions[1].name, PROFILE_PRUNED);
    CHECK_STR(back->functions[2].name, "liby.so.1+0x1234");
    profile_free(back);
    profile_free(p);
    free(file.data);
}

static void test_comments(void) {
    int version = 0;
    struct profile *p = profile_new(), *back = profile_new();
    struct profile_process process = {.exe = "/a b\\c/\"x\"\n\x01", .command = "", .pid = 1};
    char *text, *again, *label;
    p->phi = 1.0 / 3;
    p->epsilon = 2e-5;
    p->summary = profile_string(p, "exact");
    process.total = UINT64_MAX;
    process.collector = "calls";
    process.every = 100;
    process.every_each = true;
    process.credit = "new";
    process.seen_ns = 225;
    process.cpu_burst_ns = 4000;
    process.waits = 7;
    process.jumped = 8;
    process.stray = 9;
    profile_add_process(p, &process);
    profile_add_process(p, &process);
    text = comment_profile(p);
    CHECK_STR(text, "hcct: profile 2 phi=0.3333333333333333 epsilon=2e-05 summary=exact");
    CHECK(comment_read(back, text, &version));
    CHECK_UINT(version, 2);
    CHECK(back->phi == p->phi);
    CHECK(back->epsilon == p->epsilon);
    free(text);

    text = comment_process(p, 1);
    CHECK(comment_read(back, text, &version));
    CHECK_STR(back->processes[1].exe, process.exe);
    CHECK_UINT(back->processes[1].total, UINT64_MAX);
    CHECK_STR(back->processes[1].collector, "calls");
    CHECK_UINT(back->processes[1].every, 100);
    CHECK(back->processes[1].every_each);
    CHECK_STR(back->processes[1].credit, "new");
    CHECK_UINT(back->processes[1].seen_ns, 225);
    CHECK_UINT(back->processes[1].cpu_burst_ns, 4000);
    CHECK_UINT(back->processes[1].waits, 7);
    CHECK_UINT(back->processes[1].jumped, 8);
    CHECK_UINT(back->processes[1].stray, 9);
    again = comment_process(back, 1);
    CHECK_STR(again, text);
    free(text);
    free(again);
    label = comment_process_label(p, 1);
    CHECK_STR(label, "");
    free(label);
    label = comment_process_label(p, 2);
    CHECK_STR(label, "#2");
    free(label);

    CHECK(!comment_read(back, "made by another tool", &version));
    CHECK(comment_read(back, "hcct: process 9 command=\"never ends \\", &version));
    CHECK(comment_read(back, "hcct: profile 1 phi=nan epsilon=-3 future=1", &version));
    CHECK(back->phi == 0);
    CHECK(back->epsilon == 0);
    profile_free(p);
    profile_free(back);
}

/* ---- profiles of other tools ---- */

static Perftools__Profiles__ValueType value_type(int64_t type, int64_t unit) {
    Perftools__Profiles__ValueType value = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
    value.type = type;
    value.unit = unit;
    return value;
}

static struct profile *read_message(const Perftools__Profiles__Profile *message, char error[256]) {
    size_t bytes = perftools__profiles__profile__get_packed_size(message);
    uint8_t *data = malloc(bytes);
    struct profile *profile;
    error[0] = '\0';
    perftools__profiles__profile__pack(message, data);
    profile = read_pprof(data, bytes, error, 256);
    free(data);
    return profile;
}

/* One sample of two frames: an address nobody named, under a Python function without address. */
static void test_foreign(void) {
    char *strings[] = {"", "samples", "count", "cpu", "nanoseconds", "/usr/bin/py", "run", "a.py"};
    Perftools__Profiles__ValueType types[] = {value_type(1, 2), value_type(3, 4)},
                                   *type_list[] = {&types[0], &types[1]};
    Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT,
                                 *mappings[] = {&mapping};
    Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT,
                                  *functions[] = {&function};
    Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT, *lines[] = {&line};
    Perftools__Profiles__Location locations[] = {PERFTOOLS__PROFILES__LOCATION__INIT,
                                                 PERFTOOLS__PROFILES__LOCATION__INIT},
                                  *location_list[] = {&locations[0], &locations[1]};
    Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *samples[] = {&sample};
    Perftools__Profiles__Profile message = PERFTOOLS__PROFILES__PROFILE__INIT;
    uint64_t stack[] = {77, 78};
    int64_t values[] = {3, 30000000};
    char error[256];
    struct profile *p;
    message.n_string_table = 8, message.string_table = strings;
    message.n_sample_type = 2, message.sample_type = type_list;
    message.n_mapping = 1, message.mapping = mappings;
    message.n_function = 1, message.function = functions;
    message.n_location = 2, message.location = location_list;
    message.n_sample = 1, message.sample = samples;
    mapping.id = 900, mapping.memory_start = 0x400000, mapping.memory_limit = 0x500000;
    mapping.file_offset = 0x1000, mapping.filename = 5;
    function.id = 5, function.name = 6, function.filename = 7, function.start_line = 2;
    line.function_id = 5, line.line = 4;
    locations[0].id = 77, locations[0].mapping_id = 900, locations[0].address = 0x400100;
    locations[1].id = 78, locations[1].n_line = 1, locations[1].line = lines;
    sample.n_location_id = 2, sample.location_id = stack;
    sample.n_value = 2, sample.value = values;

    p = read_message(&message, error);
    CHECK(p != NULL);
    CHECK_STR(p->type, "cpu");
    CHECK_STR(p->unit, "nanoseconds");
    CHECK_UINT(p->n_processes, 2);
    CHECK_STR(p->processes[1].command, "py");
    CHECK_UINT(p->processes[1].walks, 3);
    CHECK_UINT(p->processes[1].total, 30000000);
    CHECK_UINT(profile_total(p), 30000000);
    CHECK_UINT(p->locations[1].address, 0x1100);
    CHECK_UINT(p->modules[1].start, 0x1000);
    CHECK_UINT(p->modules[1].limit, 0x101000);
    CHECK_UINT(p->nodes[2].location, 2); /* the outer one */
    CHECK_UINT(p->nodes[3].parent, 2);
    round_trip(p, false);

    message.default_sample_type = 1;
    p = read_message(&message, error);
    CHECK_STR(p->type, "samples");
    CHECK_UINT(profile_total(p), 3);
    profile_free(p);

#define REFUSED(change, back, words)                                                               \
    do {                                                                                           \
        change;                                                                                    \
        CHECK(read_message(&message, error) == NULL);                                              \
        CHECK(strstr(error, words) != NULL);                                                       \
        back;                                                                                      \
    } while (0)
    REFUSED(values[0] = -1, values[0] = 3, "negative");
    REFUSED(sample.n_value = 1, sample.n_value = 2, "1 values where 2");
    REFUSED(stack[1] = 1, stack[1] = 78, "location 1,");
    REFUSED(line.function_id = 6, line.function_id = 5, "function 6,");
    REFUSED(locations[0].mapping_id = 9, locations[0].mapping_id = 900, "mapping 9,");
    REFUSED(function.name = 8, function.name = 6, "string 8 of 8");
    REFUSED(function.name = -1, function.name = 6, "string -1 of 8");
    REFUSED(message.n_sample_type = 0, message.n_sample_type = 2, "not a pprof profile");
    REFUSED(strings[0] = "x", strings[0] = "", "not a pprof profile");
    message.default_sample_type = 0;
    samples[0] = &sample;
    values[1] = INT64_MAX;
    {
        Perftools__Profiles__Sample *twice[] = {&sample, &sample};
        message.n_sample = 2, message.sample = twice;
        REFUSED(, , "too large");
    }
}

/* ---- damage ---- */

static void refuse(const void *data, size_t bytes, const char *words) {
    char error[256] = "";
    CHECK(read_pprof(data, bytes, error, sizeof error) == NULL);
    CHECK(strstr(error, words) != NULL);
}

static void test_damaged(void) {
    struct profile *shell = sample_shell();
    struct format_options options = format_default_options;
    uint8_t *zeros = calloc(1, 2 << 20), *packed;
    char *file, error[256];
    size_t bytes, packed_bytes, plain_bytes;
    FILE *out = open_memstream(&file, &bytes);
    write_pprof(out, shell, &options);
    fclose(out);
    refuse("", 0, "empty");
    refuse("hello, world\n", 13, "not a pprof profile");
    refuse("\x1f\x8b", 2, "cut off");
    for (size_t n = 2; n < bytes; n += bytes / 40)
        refuse(file, n, "cut off");
    file[bytes / 2] ^= 0x10;
    CHECK(read_pprof(file, bytes, error, sizeof error) == NULL);
    file[bytes / 2] ^= 0x10;
    file = realloc(file, bytes + 2);
    memcpy(file + bytes, "xy", 2);
    refuse(file, bytes + 2, "something follows");

    packed = gzip_pack(zeros, 2 << 20, &packed_bytes);
    CHECK(packed_bytes < 4096);
    CHECK(gzip_unpack(packed, packed_bytes, 1 << 20, &plain_bytes, error, sizeof error) == NULL);
    CHECK(strstr(error, "larger than any profile may be") != NULL);
    free(packed);
    free(zeros);
    free(file);
    profile_free(shell);
}

static uint32_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

/* Bytes changed, cut out, doubled: refused or read, and what is read can be written. */
static void test_mutated(void) {
    struct file file;
    uint64_t state = 42;
    struct profile *p = sample_random(17);
    uint8_t *copy;
    unsigned accepted = 0;
    file = write_plain(p);
    profile_free(p);
    copy = malloc(2 * file.bytes);
    for (int i = 0; i < MUTATIONS; i++) {
        size_t bytes = file.bytes;
        char error[256] = "";
        memcpy(copy, file.data, bytes);
        for (uint32_t k = 1 + draw(&state) % 4; k > 0; k--) {
            size_t at = draw(&state) % bytes, n = draw(&state) % 16;
            if (at + n > bytes)
                n = bytes - at;
            switch (draw(&state) % 4) {
            case 0:
                copy[at] = (uint8_t)draw(&state);
                break;
            case 1:
                copy[at] ^= (uint8_t)(1u << draw(&state) % 8);
                break;
            case 2:
                memmove(copy + at, copy + at + n, bytes - at - n);
                bytes -= n;
                break;
            default:
                if (bytes + n > 2 * file.bytes)
                    break;
                memmove(copy + at + n, copy + at, bytes - at);
                bytes += n;
                break;
            }
        }
        p = read_pprof(copy, bytes, error, sizeof error);
        CHECK((p == NULL) == (error[0] != '\0'));
        if (p != NULL) {
            accepted++;
            round_trip(p, false);
        }
    }
    CHECK(accepted > MUTATIONS / 100);
    free(copy);
    free(file.data);
}

/* A small file that stands for more than is read is refused without taking memory for it. */
static void test_bomb(void) {
    enum { MEMBER = 4 << 20, MEMBERS = 300 };
    size_t member_bytes = 0, plain_bytes;
    char error[256] = "";
    uint8_t *zeros = calloc(1, MEMBER), *member = gzip_pack(zeros, MEMBER, &member_bytes);
    uint8_t *bomb = malloc(MEMBERS * member_bytes);
    struct rlimit before, little;
    for (size_t i = 0; i < MEMBERS; i++)
        memcpy(bomb + i * member_bytes, member, member_bytes);
    free(zeros);
    CHECK(getrlimit(RLIMIT_DATA, &before) == 0);
    little = (struct rlimit){.rlim_cur = 128 << 20, .rlim_max = before.rlim_max};
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* these need more */
    CHECK(setrlimit(RLIMIT_DATA, &little) == 0);
#else
    (void)little;
#endif
    CHECK(gzip_unpack(bomb, MEMBERS * member_bytes, 1 << 30, &plain_bytes, error, sizeof error) ==
          NULL);
    CHECK_STR(error, "the uncompressed data is larger than any profile may be");
    CHECK(setrlimit(RLIMIT_DATA, &before) == 0);
    free(member);
    free(bomb);
}

/* Contexts that have numbers, in places that have no weight; pruned, they all stay. */
static void test_numbers(void) {
    struct format_options options = format_default_options;
    struct profile *profile = sample_calls();
    struct profile_line line = {.function = profile_add_function(profile, "g", "g", "g.c", 1)};
    uint32_t place = profile_add_location(profile, 1, 0x54321, false);
    char *packed, error[256] = "";
    size_t bytes;
    FILE *out = open_memstream(&packed, &bytes);
    profile_set_lines(profile, place, &line, 1);
    uint32_t outer = numbers_add(profile, 0x4000000100000002, 0, place);
    uint32_t inner = numbers_add(profile, 0x4000000100000001, outer, place);
    options.phi = 0.5;
    CHECK(outer != 0 && inner > outer && write_pprof(out, profile, &options));
    fclose(out);
    struct profile *back = read_pprof(packed, bytes, error, sizeof error);
    CHECK_STR(error, "");
    uint32_t *sorted = numbers_sort(back);
    uint32_t found = numbers_find(back, sorted, 0x4000000100000001);
    CHECK(found == inner && back->n_numbers == profile->n_numbers);
    CHECK(back->numbers[found].parent == outer);
    CHECK(back->locations[back->numbers[found].location].lines[0].line == line.line);
    CHECK(numbers_find(back, sorted, 0x4000000100000003) == 0);
    free(sorted);
    free(packed);
    profile->numbers[inner].parent = inner + 1; /* not there */
    struct file damaged = write_plain(profile);
    CHECK(read_pprof(damaged.data, damaged.bytes, error, sizeof error) == NULL);
    CHECK(strstr(error, "the caller of context 0x4000000100000001 is not there") != NULL);
    profile->numbers[inner].parent = outer;
    free(damaged.data);
    profile_free(back);
    round_trip(profile, true);
}

int main(void) {
    test_round_trips();
    test_numbers();
    test_effects();
    test_completion();
    test_comments();
    test_foreign();
    test_damaged();
    test_mutated();
    test_bomb();
    return check_report();
}
