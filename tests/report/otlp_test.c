/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * otlp_test.c - profiles of OpenTelemetry: written and read back whole, foreign ones, damaged ones.
 */
#include "tests/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/render/format.h"
#include "common/render/otlp.pb-c.h"
#include "tests/report/sample.h"

#define MUTATIONS 3000

struct file {
    uint8_t *data;
    size_t bytes;
};

static struct file write_file(const struct profile *profile) {
    struct format_options options = format_default_options;
    char *data;
    struct file file;
    FILE *out = open_memstream(&data, &file.bytes);
    CHECK(write_otlp(out, profile, &options));
    fclose(out);
    file.data = (uint8_t *)data;
    return file;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Contexts come in another order: by process, those with an error alone last. */
static char *sorted_dump(const struct profile *profile) {
    char *text = sample_dump(profile), *save, **lines = NULL, *sorted;
    size_t n = 0, bytes;
    FILE *out = open_memstream(&sorted, &bytes);
    for (char *line = strtok_r(text, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        lines = realloc(lines, (n + 1) * sizeof *lines);
        lines[n++] = line;
    }
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s\n", lines[i]);
    fclose(out);
    free(lines);
    free(text);
    return sorted;
}

static struct profile *read_back(const struct file *file) {
    char error[256] = "";
    struct profile *profile = format_read(file->data, file->bytes, error, sizeof error);
    CHECK_STR(error, "");
    CHECK(profile != NULL);
    return profile;
}

static void round_trip(struct profile *profile, bool same_contents) {
    struct file first = write_file(profile), second, third;
    struct profile *back = read_back(&first), *again;
    CHECK_UINT(profile_total(back), profile_total(profile));
    if (same_contents) {
        char *before = sorted_dump(profile), *after = sorted_dump(back);
        CHECK_STR(after, before);
        free(before);
        free(after);
    }
    second = write_file(back);
    again = read_back(&second);
    third = write_file(again);
    CHECK(second.bytes == third.bytes && memcmp(second.data, third.data, third.bytes) == 0);
    profile_free(back);
    profile_free(again);
    profile_free(profile);
    free(first.data);
    free(second.data);
    free(third.data);
}

static void test_round_trips(void) {
    round_trip(sample_shell(), true);
    round_trip(sample_build(), true);
    round_trip(sample_names(), true);
    round_trip(sample_calls(), true);
    round_trip(sample_call_bursts(), true);
    round_trip(sample_empty(), true);
    round_trip(sample_none(), true);
    round_trip(sample_deep(100000), false);
    for (uint64_t seed = 0; seed < 100; seed++)
        round_trip(sample_random(seed), false);
}

/* ---- other tools' ---- */

static struct file pack(const Otlp__ProfilesData *data) {
    struct file file = {.bytes = otlp__profiles_data__get_packed_size(data)};
    file.data = malloc(file.bytes);
    otlp__profiles_data__pack(data, file.data);
    return file;
}

/* Time stamps instead of values, two types of weight, a process in an attribute by its place in the
 * table of strings, and places that refer to nothing. */
static void test_foreign(void) {
    char *strings[] = {
        "", "samples", "count", "cpu", "nanoseconds", "f", "process.executable.name", "worker"};
    Otlp__Function no_function = OTLP__FUNCTION__INIT, f = OTLP__FUNCTION__INIT;
    Otlp__Location no_location = OTLP__LOCATION__INIT, location = OTLP__LOCATION__INIT;
    Otlp__Line line = OTLP__LINE__INIT;
    Otlp__Mapping no_mapping = OTLP__MAPPING__INIT;
    Otlp__Stack no_stack = OTLP__STACK__INIT, stack = OTLP__STACK__INIT;
    Otlp__AnyValue name = OTLP__ANY_VALUE__INIT;
    Otlp__KeyValueAndUnit no_attribute = OTLP__KEY_VALUE_AND_UNIT__INIT, attribute = no_attribute;
    Otlp__Sample stamped = OTLP__SAMPLE__INIT, valued = OTLP__SAMPLE__INIT;
    Otlp__ValueType samples = OTLP__VALUE_TYPE__INIT, cpu = OTLP__VALUE_TYPE__INIT;
    Otlp__Profile profiles[2] = {OTLP__PROFILE__INIT, OTLP__PROFILE__INIT};
    Otlp__ScopeProfiles scope = OTLP__SCOPE_PROFILES__INIT;
    Otlp__ResourceProfiles resource = OTLP__RESOURCE_PROFILES__INIT;
    Otlp__ProfilesDictionary dictionary = OTLP__PROFILES_DICTIONARY__INIT;
    Otlp__ProfilesData data = OTLP__PROFILES_DATA__INIT;
    uint64_t stamps[] = {1, 2, 3};
    int64_t values[] = {40, 2};
    int32_t locations[] = {1, 0}, attributes[] = {1};

    f.name_strindex = 5;
    line.function_index = 1;
    location.n_lines = 1, location.lines = (Otlp__Line *[]){&line};
    stack.n_location_indices = 2, stack.location_indices = locations;
    name.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE_STRINDEX;
    name.string_value_strindex = 7;
    attribute.key_strindex = 6, attribute.value = &name;
    stamped.stack_index = valued.stack_index = 1;
    stamped.n_timestamps_unix_nano = 3, stamped.timestamps_unix_nano = stamps;
    valued.n_values = 2, valued.values = values;
    valued.n_attribute_indices = 1, valued.attribute_indices = attributes;
    samples.type_strindex = 1, samples.unit_strindex = 2;
    cpu.type_strindex = 3, cpu.unit_strindex = 4;
    profiles[0].sample_type = &samples, profiles[1].sample_type = &cpu;
    profiles[0].n_samples = profiles[1].n_samples = 1;
    profiles[0].samples = (Otlp__Sample *[]){&stamped};
    profiles[1].samples = (Otlp__Sample *[]){&valued};
    scope.n_profiles = 2, scope.profiles = (Otlp__Profile *[]){&profiles[0], &profiles[1]};
    resource.n_scope_profiles = 1, resource.scope_profiles = (Otlp__ScopeProfiles *[]){&scope};
    dictionary.n_string_table = 8, dictionary.string_table = strings;
    dictionary.n_function_table = 2,
    dictionary.function_table = (Otlp__Function *[]){&no_function, &f};
    dictionary.n_location_table = 2;
    dictionary.location_table = (Otlp__Location *[]){&no_location, &location};
    dictionary.n_mapping_table = 1, dictionary.mapping_table = (Otlp__Mapping *[]){&no_mapping};
    dictionary.n_stack_table = 2, dictionary.stack_table = (Otlp__Stack *[]){&no_stack, &stack};
    dictionary.n_attribute_table = 2;
    dictionary.attribute_table = (Otlp__KeyValueAndUnit *[]){&no_attribute, &attribute};
    data.n_resource_profiles = 1, data.resource_profiles = (Otlp__ResourceProfiles *[]){&resource};
    data.dictionary = &dictionary;

    struct file file = pack(&data);
    struct profile *profile = read_back(&file);

    CHECK_STR(profile->type, "cpu");
    CHECK_STR(profile->unit, "nanoseconds");
    CHECK_UINT(profile_total(profile), 42);
    bool found = false;
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (strcmp(profile->processes[i].command, "worker") == 0)
            found = profile->processes[i].total == 42;
    CHECK(found);
    profile_free(profile);
    free(file.data);

    char error[256] = "";
    locations[0] = 9; /* which is not there */
    file = pack(&data);
    CHECK(format_read(file.data, file.bytes, error, sizeof error) == NULL);
    CHECK_STR(error, "it is damaged: it refers to location 9, which is not there");
    free(file.data);
    locations[0] = 1, valued.stack_index = -1;
    file = pack(&data);
    CHECK(format_read(file.data, file.bytes, error, sizeof error) == NULL);
    CHECK_STR(error, "it is damaged: it refers to stack -1 of 2");
    free(file.data);
}

/* ---- damaged ones ---- */

static uint32_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

/* Bytes changed or cut off: refused or read, and what is read can be written. */
static void test_mutated(void) {
    struct profile *p = sample_random(17);
    struct file file = write_file(p);
    uint64_t state = 42;
    unsigned accepted = 0;
    profile_free(p);
    for (int i = 0; i < MUTATIONS; i++) {
        uint8_t *copy = malloc(file.bytes);
        size_t bytes = draw(&state) % 8 == 0 ? 1 + draw(&state) % file.bytes : file.bytes;
        char error[256] = "";
        memcpy(copy, file.data, bytes);
        for (uint32_t k = 1 + draw(&state) % 4; k > 0; k--)
            copy[draw(&state) % bytes] ^= (uint8_t)(1u << draw(&state) % 8);
        p = read_otlp(copy, bytes, error, sizeof error);
        CHECK((p == NULL) == (error[0] != '\0'));
        if (p != NULL) {
            accepted++;
            round_trip(p, false);
        }
        free(copy);
    }
    CHECK(accepted > MUTATIONS / 100);
    free(file.data);
}

int main(void) {
    test_round_trips();
    test_foreign();
    test_mutated();
    return check_report();
}
