/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * call_modules.c - a short list, looked through from its beginning; to text and back.
 */
#include "common/profile/call_modules.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array_grow.h"
#include "common/profile/call_words.h"

#define FIRST   7 /* numbers before those of `left` */
#define NUMBERS (FIRST + CALL_LEFT_REASONS)

/* The numbers of a module in the order of the text. */
static void numbers_of(struct call_module *module, uint64_t *numbers[NUMBERS]) {
    uint64_t *const first[FIRST] = {&module->times,  &module->found,      &module->plt,
                                    &module->sites,  &module->redirected, &module->missed_ns,
                                    &module->covered};
    memcpy(numbers, first, sizeof first);
    for (size_t i = 0; i < CALL_LEFT_REASONS; i++)
        numbers[FIRST + i] = &module->left[i];
}

struct call_module call_module_of(const struct call_sites *sites, char *path) {
    struct call_module module = {.path = path,
                                 .verdict = sites->verdict,
                                 .times = 1,
                                 .found = sites->found[0],
                                 .plt = sites->found[1],
                                 .sites = sites->sites,
                                 .covered = sites->covered};
    for (size_t i = 0; i < CALL_LEFT_REASONS; i++)
        module.left[i] = sites->left[i];
    return module;
}

/* ---- the list ---- */

static struct call_module *find(const struct call_modules *modules,
                                const struct call_module *like) {
    for (size_t i = 0; i < modules->n; i++)
        if (modules->list[i].verdict == like->verdict &&
            strcmp(modules->list[i].path, like->path) == 0)
            return &modules->list[i];
    return NULL;
}

static void add_numbers(struct call_module *module, const struct call_module *more) {
    struct call_module copy = *more;
    uint64_t *to[NUMBERS], *from[NUMBERS], times;
    if (__builtin_add_overflow(module->times, more->times, &times))
        times = UINT64_MAX;
    numbers_of(module, to);
    numbers_of(&copy, from);
    for (size_t i = 0; i < NUMBERS; i++)
        if (*from[i] > *to[i])
            *to[i] = *from[i];
    module->times = times;
}

bool call_modules_add(struct call_modules *modules, const struct call_module *module) {
    struct call_module *have = find(modules, module);
    if (have != NULL) {
        add_numbers(have, module);
        return true;
    }
    char *path = modules->n < CALL_MODULES_MAX ? strdup(module->path) : NULL;
    if (path == NULL ||
        !array_grow(&modules->list, modules->n, &modules->room, sizeof *modules->list)) {
        free(path);
        return false;
    }
    modules->list[modules->n] = *module;
    modules->list[modules->n++].path = path;
    return true;
}

bool call_modules_add_all(struct call_modules *modules, const struct call_modules *others) {
    bool whole = true;
    for (size_t i = 0; i < others->n; i++)
        whole &= call_modules_add(modules, &others->list[i]);
    return whole;
}

void call_modules_clear(struct call_modules *modules) {
    for (size_t i = 0; i < modules->n; i++)
        free(modules->list[i].path);
    free(modules->list);
    *modules = (struct call_modules){0};
}

/* ---- to text ---- */

static void put_path(FILE *out, const char *path) {
    for (; *path != '\0'; path++)
        if (strchr(",;%", *path) != NULL || iscntrl((unsigned char)*path))
            fprintf(out, "%%%02x", (unsigned char)*path);
        else
            fputc(*path, out);
}

static void put_module(FILE *out, const struct call_module *module) {
    struct call_module copy = *module;
    uint64_t *numbers[NUMBERS];
    numbers_of(&copy, numbers);
    put_path(out, module->path);
    fprintf(out, ",%s", call_verdict_key(module->verdict));
    for (size_t i = 0; i < NUMBERS; i++)
        fprintf(out, ",%" PRIu64, *numbers[i]);
}

char *call_modules_write(const struct call_modules *modules) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < modules->n; i++) {
        if (i > 0)
            fputc(';', out);
        put_module(out, &modules->list[i]);
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- and back ---- */

static int hex_digit(char c) {
    return !isxdigit((unsigned char)c) ? -1
           : isdigit((unsigned char)c) ? c - '0'
                                       : tolower((unsigned char)c) - 'a' + 10;
}

/* In its place. */
static void undo_escapes(char *path) {
    char *to = path;
    for (const char *from = path; *from != '\0'; from++) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        if (low >= 0 && high * 16 + low != 0) {
            *to++ = (char)(high * 16 + low);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/* [*at, end) begins with a comma and a number. */
static bool read_number(const char **at, const char *end, uint64_t *number) {
    char *after;
    if (*at == end || **at != ',' || !isdigit((unsigned char)(*at)[1]))
        return false;
    errno = 0;
    *number = strtoull(*at + 1, &after, 10);
    *at = after;
    return errno == 0 && after <= end;
}

/* One module, [text, end). A later version may have more numbers. */
static bool read_module(const char *text, const char *end, struct call_module *module) {
    const char *key = memchr(text, ',', (size_t)(end - text));
    const char *at = key != NULL ? memchr(key + 1, ',', (size_t)(end - key - 1)) : NULL;
    uint64_t *numbers[NUMBERS];
    if (at == NULL || key == text)
        return false;
    *module = (struct call_module){
        .verdict = call_verdict_of_key(key + 1, (size_t)(at - key - 1)),
    };
    numbers_of(module, numbers);
    for (size_t i = 0; i < NUMBERS; i++)
        if (!read_number(&at, end, numbers[i]))
            return false;
    return module->verdict != CALLS_VERDICTS;
}

bool call_modules_read(struct call_modules *modules, const char *text) {
    bool whole = true;
    for (const char *end; *text != '\0'; text = *end == '\0' ? end : end + 1) {
        struct call_module module;
        end = text + strcspn(text, ";");
        if (!read_module(text, end, &module))
            continue;
        module.path = strndup(text, strcspn(text, ","));
        if (module.path == NULL)
            return false;
        undo_escapes(module.path);
        whole &= call_modules_add(modules, &module);
        free(module.path);
    }
    return whole;
}
