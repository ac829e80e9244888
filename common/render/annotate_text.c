/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * annotate_text.c - annotated functions to be read: the source, where it can be had, beside what
 * its lines weigh.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/profile/chance.h"
#include "common/render/format_number.h"
#include "common/render/results.h"

#define CALLEES_SHOWN 3
#define TEXT_MAX      2000  /* bytes of a source line that are shown */
#define MORE_WIDTH    6     /* columns of "+12.34" */
#define LEAST_SHOWN   0.005 /* points: less would show as 0.00 */

/* The source under its recorded path, else in the directory by ever shorter ends of that path. */
static FILE *open_source(const char *path, const char *directory) {
    char name[8192];
    FILE *file = path[0] == '/' ? fopen(path, "re") : NULL;
    for (const char *end = path; file == NULL && directory != NULL && end != NULL;
         end = strchr(end, '/')) {
        end += *end == '/';
        snprintf(name, sizeof name, "%s/%s", directory, end);
        file = fopen(name, "re");
    }
    return file;
}

static void put_share(FILE *out, uint64_t weight, uint64_t total) {
    if (weight == 0 || total == 0)
        fputs("          ", out);
    else
        fprintf(out, "%7.2f %% ", 100 * (double)weight / (double)total);
}

static double points(const struct annotation *annotation, uint64_t weight) {
    return annotation->total > 0 ? 100 * (double)weight / (double)annotation->total : 0;
}

/* Have some weights bounds that would not show as 0.00? */
static bool has_bounds(const struct annotation *annotation) {
    uint64_t most = annotation->unknown;
    for (uint32_t i = 0; i < annotation->n_functions; i++)
        for (uint32_t k = 0; k < annotation->functions[i].n_lines; k++)
            if (annotation->functions[i].lines[k].more > most)
                most = annotation->functions[i].lines[k].more;
    return points(annotation, most) >= LEAST_SHOWN;
}

/* A column where there are any. */
static void put_more(FILE *out, const struct annotation *annotation,
                     const struct annotate_line *line) {
    if (!has_bounds(annotation))
        return;
    if (line == NULL || points(annotation, line->more) < LEAST_SHOWN)
        fprintf(out, "%*s ", MORE_WIDTH, "");
    else
        fprintf(out, "%+*.2f ", MORE_WIDTH, points(annotation, line->more));
}

static void put_callees(FILE *out, const struct annotate_line *line, uint64_t total) {
    for (uint32_t i = 0; i < line->n_callees && i < CALLEES_SHOWN; i++) {
        fprintf(out, "%28s-> ", "");
        utf8_put(out, line->callees[i].name);
        fprintf(out, " %.2f %%\n", 100 * (double)line->callees[i].weight / (double)total);
    }
    if (line->n_callees > CALLEES_SHOWN)
        fprintf(out, "%28s-> %u more\n", "", line->n_callees - CALLEES_SHOWN);
}

/* A line of source, or NULL; its tabs stay what they are. Ends what it writes to. */
static void put_source_line(FILE *out, char *text) {
    for (char *part = text, *rest; part != NULL; part = rest) {
        rest = strchr(part, '\t');
        if (rest != NULL)
            *rest++ = '\0';
        utf8_put(out, part);
        if (rest != NULL)
            fputc('\t', out);
    }
    fputc('\n', out);
}

/* `line` may be NULL: it weighs nothing. `text` is its source, or NULL; of number 0, why it has
 * none.
 */
static void put_line(FILE *out, const struct annotation *annotation,
                     const struct annotate_line *line, uint32_t number, char *text) {
    uint64_t total = annotation->total;
    put_share(out, line != NULL ? line->self : 0, total);
    put_share(out, line != NULL ? line->inclusive : 0, total);
    put_more(out, annotation, line);
    if (number != 0) {
        fprintf(out, "%6u  ", number);
        put_source_line(out, text);
    } else {
        fprintf(out, "     ?  %s\n", text);
    }
    if (line != NULL && total != 0)
        put_callees(out, line, total);
}

static bool calls_what_is_not_kept(const struct annotate_line *line) {
    for (uint32_t i = 0; i < line->n_callees; i++)
        if (strcmp(line->callees[i].name, PROFILE_PRUNED) != 0)
            return false;
    return true;
}

/* Of what has no line: what the function has itself, and then what it has called from there. */
static void put_no_line(FILE *out, const struct annotation *annotation,
                        const struct annotate_line *line) {
    static char own[] = "line not recorded: the innermost frame is known by its function alone",
                kept[] = "line not known: the calls are in contexts that are not kept",
                called[] = "line not known: code of the caller without line information";
    struct annotate_line self = {.self = line->self, .inclusive = line->self};
    struct annotate_line calls = *line;
    calls.self = 0;
    calls.inclusive -= line->self < line->inclusive ? line->self : line->inclusive;
    if (self.self > 0)
        put_line(out, annotation, &self, 0, own);
    if (calls.inclusive > 0)
        put_line(out, annotation, &calls, 0, calls_what_is_not_kept(line) ? kept : called);
}

static bool is_near(const struct annotate_function *function, uint32_t number, uint32_t around) {
    for (uint32_t i = 0; i < function->n_lines; i++) {
        uint32_t line = function->lines[i].line;
        if (line != 0 && number + around >= line && number <= line + around)
            return true;
    }
    return false;
}

static void put_source(FILE *out, const struct annotation *annotation,
                       const struct annotate_function *function, FILE *source, uint32_t around) {
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    uint32_t number = 0, next = 0, shown = 0;
    while (next < function->n_lines && function->lines[next].line == 0)
        next++;
    while ((length = getline(&text, &room, source)) >= 0 && number < UINT32_MAX) {
        const struct annotate_line *line = NULL;
        number++;
        text[strcspn(text, "\r\n")] = '\0';
        if (length > TEXT_MAX)
            text[TEXT_MAX] = '\0';
        if (next < function->n_lines && function->lines[next].line == number)
            line = &function->lines[next++];
        if (!is_near(function, number, around))
            continue;
        if (shown != 0 && number > shown + 1)
            fprintf(out, "%26s\n", "...");
        put_line(out, annotation, line, number, text);
        shown = number;
    }
    free(text);
    for (; next < function->n_lines; next++) /* the file is shorter than it was */
        put_line(out, annotation, &function->lines[next], function->lines[next].line, NULL);
}

/* How precise the numbers are. */
static void put_intervals(FILE *out, const struct annotation *annotation,
                          const struct annotate_function *function) {
    const struct chance chance = chance_of(annotation->profile);
    double share = points(annotation, function->inclusive) / 100;
    if (has_bounds(annotation))
        fprintf(
            out,
            "true shares are larger by up to %.2f points (self) and %.2f (inclusive; of a line, "
            "as \"more\" says): contexts that were not kept may belong to it\n",
            points(annotation, annotation->unknown), points(annotation, function->more));
    if (chance.squares > 0)
        fprintf(out, "95 %% interval of sampling: %.2f %% +-%.2f points inclusive\n", 100 * share,
                100 * chance_half_width(&chance, share, 0));
}

static void put_function(FILE *out, const struct annotation *annotation,
                         const struct annotate_function *function,
                         const struct annotate_sources *sources) {
    const struct profile *profile = annotation->profile;
    bool has_file = function->file[0] != '\0';
    FILE *source = has_file ? open_source(function->file, sources->directory) : NULL;
    utf8_put(out, function->name);
    fputs(has_file ? "  " : "", out);
    utf8_put(out, function->file);
    fputc('\n', out);
    fprintf(out, "%s self", format_weight(profile, function->self).text);
    fprintf(out, ", %s inclusive", format_weight(profile, function->inclusive).text);
    fprintf(out, ", of %s\n", format_weight(profile, annotation->total).text);
    put_intervals(out, annotation, function);
    if (has_file && source == NULL)
        fputs("the source is not under that path here: --source DIR says where it is\n", out);
    fprintf(out, "%9s %9s ", "self", "inclusive");
    if (has_bounds(annotation))
        fprintf(out, "%*s ", MORE_WIDTH, "more");
    fprintf(out, "%6s\n", "line");
    if (function->n_lines > 0 && function->lines[0].line == 0)
        put_no_line(out, annotation, &function->lines[0]);
    if (source != NULL)
        put_source(out, annotation, function, source, sources->around);
    for (uint32_t i = 0; i < function->n_lines && source == NULL; i++)
        if (function->lines[i].line != 0)
            put_line(out, annotation, &function->lines[i], function->lines[i].line, NULL);
    if (source != NULL)
        fclose(source);
}

/* Walks that were made without lines know no line of any self weight. */
static bool could_have_lines(const struct annotation *annotation) {
    const struct profile *profile = annotation->profile;
    bool walks = false, bare = false;
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        if (profile->processes[i].lines)
            return false;
        walks |= strcmp(profile->processes[i].collector, "walks") == 0;
    }
    for (uint32_t i = 0; i < annotation->n_functions; i++)
        bare |= annotation->functions[i].self > 0;
    return walks && bare;
}

bool annotation_write_text(FILE *out, const struct annotation *annotation,
                           const struct annotate_sources *sources) {
    for (uint32_t i = 0; i < annotation->n_functions; i++) {
        if (i > 0)
            fputc('\n', out);
        put_function(out, annotation, &annotation->functions[i], sources);
    }
    if (could_have_lines(annotation))
        fputs("\nlines of self weights: 'hcct record --lines', or HCCT_LINES=1 where the agent is "
              "preloaded, records them\n",
              out);
    return !ferror(out);
}
