/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * settings.c - environment variables to settings, as a table.
 *
 * No stdio and no strtol here: nothing that allocates, locks, or depends on the application's
 * locale.
 */
#include "preload/life/settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/burst.h"
#include "common/wire/compiler.h"
#include "common/wire/metric.h"
#include "common/wire/percent.h"
#include "common/wire/wire.h"
#include "preload/life/sys.h"

#define STDERR     2
#define BURST_RATE "5000" /* samples per second within a burst, where the user says nothing */
#define NO_BURST   "none"
#define NO_BUDGET  "none"
#define NO_TAGS    "none"
#define NO_METRICS "none" /* as the collector has it: time, or calls */

struct setting;
typedef bool parse(const struct setting *s, const char *text, struct agent_settings *settings);

static parse parse_number, parse_yes_no, parse_clock, parse_burst, parse_collector, parse_metrics,
    parse_every, parse_credit, parse_tags, parse_attach, parse_modules, parse_budget;

static const struct setting {
    const char *name;
    const char *fallback; /* as a text, for the message and as the default's one source */
    const char *expected; /* what it can be, for the message */
    parse *parse;
    size_t offset;
    unsigned min, max;
} table[] = {
#define AT(field) offsetof(struct agent_settings, field)
    {"HCCT_COLLECTOR", "walks", "walks or calls", parse_collector, 0, 0, 0},
    {"HCCT_BUDGET", NO_BUDGET, PERCENT_EXPECTED, parse_budget, 0, 0, 0},
    {"HCCT_BURST", NO_BURST, "LENGTH/PERIOD, such as 2ms/20ms", parse_burst, 0, 0, 0},
    {"HCCT_RATE", "100", "1 to 10000", parse_number, AT(rate), 1, 10000},
    {"HCCT_CLOCK", "cpu", "cpu or wall", parse_clock, AT(clock), 0, 0},
    {"HCCT_METRICS", NO_METRICS, METRICS_LIST_EXPECTED, parse_metrics, 0, 0, 0},
    {"HCCT_EVERY", "1", "N or N/routine, N from 1 to 1000000000", parse_every, 0, 0, 0},
    {"HCCT_CREDIT", "last", "last or new", parse_credit, 0, 0, 0},
    {"HCCT_MODULES", "", "patterns of file names or paths, with commas between them", parse_modules,
     0, 0, 0},
    {"HCCT_SIGNAL", "0", "a signal's number", parse_number, AT(signal), 0, 64},
    {"HCCT_FOLLOW", "yes", "yes or no", parse_yes_no, AT(follow), 0, 0},
    {"HCCT_ENABLE", "yes", "yes or no", parse_yes_no, AT(enable), 0, 0},
    {"HCCT_ATTACH", "tick", "tick or start", parse_attach, 0, 0, 0},
    {"HCCT_LINES", "no", "yes or no", parse_yes_no, AT(lines), 0, 0},
    {"HCCT_THREADS", "no", "yes or no", parse_yes_no, AT(threads), 0, 0},
    {"HCCT_LABELS", "yes", "yes or no", parse_yes_no, AT(labels), 0, 0},
    {"HCCT_PYTHON", "no", "yes or no", parse_yes_no, AT(python), 0, 0},
    {"HCCT_TAGS", NO_TAGS, TAGS_EXPECTED, parse_tags, 0, 0, 0},
    {"HCCT_CHECK", "no", "yes or no", parse_yes_no, AT(check), 0, 0},
    {"HCCT_VERBOSE", "no", "yes or no", parse_yes_no, AT(verbose), 0, 0},
#undef AT
};

/* ---- messages ---- */

struct line {
    char text[512];
    size_t used;
};

static void add(struct line *line, const char *part) {
    size_t n = part != NULL ? strlen(part) : 0, room = sizeof line->text - 1 - line->used;
    n = n < room ? n : room;
    memcpy(line->text + line->used, part != NULL ? part : "", n);
    line->used += n;
}

static void say(struct line *line) {
    line->text[line->used++] = '\n'; /* add() leaves a byte free */
    sys3(SYS_write, STDERR, line->text, line->used);
}

void settings_say(const struct agent_settings *settings, bool always, const char *what,
                  const char *detail) {
    struct line line = {.used = 0};
    if (!always && !settings->verbose)
        return;
    add(&line, "hcct: ");
    add(&line, what);
    add(&line, detail);
    say(&line);
}

/* What is sampled where no metric is named. */
static const char *unnamed_metric(const struct agent_settings *settings) {
    if (settings->collector == WIRE_COLLECT_CALLS)
        return "calls are counted";
    return settings->clock == WIRE_CLOCK_WALL ? "elapsed time is sampled" : "CPU time is sampled";
}

/* Of metrics: which word is none, or why these can't be together. */
static void say_bad_metrics(const struct agent_settings *settings, const char *text) {
    struct line line = {.used = 0};
    struct metric_list list;
    const char *wrong = metric_list_read(text, &list);
    add(&line, "hcct: HCCT_METRICS is \"");
    add(&line, text);
    add(&line, strcmp(wrong, METRICS_LIST_EXPECTED) == 0 ? "\" but must be " : "\": ");
    add(&line, wrong);
    add(&line, "; ");
    add(&line, unnamed_metric(settings));
    say(&line);
}

static void say_bad(const struct setting *s, const char *text, const char *instead) {
    struct line line = {.used = 0};
    const char *part[] = {"hcct: ",    s->name, " is \"", text,      "\" but must be ",
                          s->expected, "; ",    instead,  " is used"};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(part); i++)
        add(&line, part[i]);
    say(&line);
}

/* ---- values ---- */

/* Digits up to the text's end; where they end otherwise, or make too large a number, is `*end`. */
static unsigned long number(const char *text, const char **end) {
    unsigned long n = 0;
    for (; *text >= '0' && *text <= '9' && n <= 1000000000; text++)
        n = n * 10 + (unsigned long)(*text - '0');
    *end = text;
    return n;
}

static bool parse_number(const struct setting *s, const char *text,
                         struct agent_settings *settings) {
    const char *end;
    unsigned long n = number(text, &end);
    if (end == text || *end != '\0' || n < s->min || n > s->max)
        return false;
    *(unsigned *)(void *)((char *)settings + s->offset) = (unsigned)n;
    return true;
}

static bool parse_every(const struct setting *s, const char *text,
                        struct agent_settings *settings) {
    const char *end;
    unsigned long n = number(text, &end);
    (void)s;
    bool each = strcmp(end, "/routine") == 0;
    if (end == text || (*end != '\0' && !each) || n < 1 || n > 1000000000)
        return false;
    settings->every = (unsigned)n;
    settings->every_each = each;
    return true;
}

struct word {
    const char *word;
    unsigned value;
};

static bool find_word(const struct word *words, size_t n, const char *text, unsigned *value) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, words[i].word) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}

static bool is_yes_no(const char *text, unsigned *value) {
    static const struct word words[] = {{"1", 1}, {"yes", 1}, {"on", 1},  {"true", 1},
                                        {"0", 0}, {"no", 0},  {"off", 0}, {"false", 0}};
    return find_word(words, HCCT_ARRAY_LEN(words), text, value);
}

static bool parse_yes_no(const struct setting *s, const char *text,
                         struct agent_settings *settings) {
    unsigned value;
    if (!is_yes_no(text, &value))
        return false;
    *(bool *)(void *)((char *)settings + s->offset) = value != 0;
    return true;
}

static bool parse_clock(const struct setting *s, const char *text,
                        struct agent_settings *settings) {
    static const struct word words[] = {
        {"cpu", WIRE_CLOCK_CPU}, {"wall", WIRE_CLOCK_WALL}, {"perf", WIRE_CLOCK_CPU}};
    (void)s;
    return find_word(words, HCCT_ARRAY_LEN(words), text, &settings->clock);
}

static bool parse_collector(const struct setting *s, const char *text,
                            struct agent_settings *settings) {
    static const struct word words[] = {{"walks", WIRE_COLLECT_WALKS},
                                        {"encode", WIRE_COLLECT_WALKS},
                                        {"calls", WIRE_COLLECT_CALLS}};
    (void)s;
    settings->encode = strcmp(text, "encode") == 0;
    return find_word(words, HCCT_ARRAY_LEN(words), text, &settings->collector);
}

/* After the collector and the clock, which it stands above. */
static bool parse_metrics(const struct setting *s, const char *text,
                          struct agent_settings *settings) {
    struct metric_list list;
    (void)s;
    settings->metrics = 1;
    settings->metric[0] = (uint8_t)settings->collector;
    settings->faults = WIRE_METRICS_MAX;
    if (strcmp(text, NO_METRICS) == 0)
        return true;
    if (metric_list_read(text, &list) != NULL)
        return false;
    settings->encode = false;
    settings->metrics = list.n;
    for (unsigned i = 0; i < list.n; i++) {
        settings->metric[i] = (uint8_t)list.metric[i]->collector;
        if (settings->metric[i] == WIRE_COLLECT_FAULTS)
            settings->faults = i;
    }
    settings->ticks_to = list.by_ticks < list.n ? list.by_ticks : 0;
    settings->collector = settings->metric[settings->ticks_to];
    if (settings->collector == WIRE_COLLECT_FAULTS)
        settings->collector = WIRE_COLLECT_WALKS;
    if (list.metric[settings->ticks_to]->clock != WIRE_CLOCKS)
        settings->clock = list.metric[settings->ticks_to]->clock;
    return true;
}

static bool parse_credit(const struct setting *s, const char *text,
                         struct agent_settings *settings) {
    static const struct word words[] = {{"last", WIRE_CREDIT_LAST}, {"new", WIRE_CREDIT_NEW}};
    (void)s;
    return find_word(words, HCCT_ARRAY_LEN(words), text, &settings->credit);
}

static bool parse_attach(const struct setting *s, const char *text,
                         struct agent_settings *settings) {
    static const struct word words[] = {{"tick", false}, {"start", true}};
    unsigned at_start;
    (void)s;
    if (!find_word(words, HCCT_ARRAY_LEN(words), text, &at_start))
        return false;
    settings->attach_at_start = at_start != 0;
    return true;
}

/* Samples have none. */
static bool parse_budget(const struct setting *s, const char *text,
                         struct agent_settings *settings) {
    (void)s;
    settings->budget_ppm = 0;
    if (strcmp(text, NO_BUDGET) == 0)
        return true;
    uint32_t ppm;
    if (!percent_parse(text, &ppm))
        return false;
    settings->budget_ppm = settings->collector == WIRE_COLLECT_CALLS ? ppm : 0;
    return true;
}

static bool parse_burst(const struct setting *s, const char *text,
                        struct agent_settings *settings) {
    (void)s;
    settings->burst_length_ns = settings->burst_period_ns = 0;
    settings->burst_error_ppm = 0;
    if (strcmp(text, NO_BURST) == 0)
        return true;
    uint32_t error_ppm;
    if (!burst_parse_adaptive(text, &settings->burst_length_ns, &settings->burst_period_ns,
                              &error_ppm))
        return false;
    bool may = settings->collector == WIRE_COLLECT_CALLS && settings->budget_ppm == 0;
    settings->burst_error_ppm = may ? error_ppm : 0;
    return true;
}

static bool parse_modules(const struct setting *s, const char *text,
                          struct agent_settings *settings) {
    size_t length = strlen(text);
    (void)s;
    settings->modules[0] = '\0';
    if (length >= sizeof settings->modules)
        return false;
    memcpy(settings->modules, text, length + 1);
    return true;
}

static bool parse_tags(const struct setting *s, const char *text, struct agent_settings *settings) {
    (void)s;
    settings->tags[0] = '\0';
    if (tags_check(text))
        memcpy(settings->tags, text, strlen(text) + 1);
    return settings->tags[0] != '\0' || strcmp(text, NO_TAGS) == 0;
}

/* Within a burst walks are close together unless the user says otherwise; a budget needs bursts. */
static const char *fallback(const struct setting *s, const struct agent_settings *settings) {
    if (s->parse == parse_burst && settings->budget_ppm != 0)
        return PERCENT_BURST;
    return s->parse == parse_number && s->offset == offsetof(struct agent_settings, rate) &&
                   settings->burst_length_ns != 0
               ? BURST_RATE
               : s->fallback;
}

/* Ticks are of one that stays: where the clock matters, it is as before. */
void settings_keep_metrics(struct agent_settings *settings, bool (*keep)(uint32_t collector)) {
    unsigned n = 0, ticks_to = settings->ticks_to;
    settings->ticks_to = 0;
    for (unsigned i = 0; i < settings->metrics; i++) {
        if (!keep(settings->metric[i]))
            continue;
        if (i == settings->faults)
            settings->faults = n;
        if (i == ticks_to)
            settings->ticks_to = n;
        settings->metric[n++] = settings->metric[i];
    }
    settings->metrics = n;
    if (wire_of_events(settings->collector))
        settings->collector = settings->metric[0];
}

bool settings_are_off(void) {
    const char *text = getenv("HCCT_ENABLE");
    unsigned value;
    return text != NULL && is_yes_no(text, &value) && value == 0;
}

void settings_read(struct agent_settings *settings) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(table); i++) {
        const struct setting *s = &table[i];
        const char *text = getenv(s->name), *instead = fallback(s, settings);
        if (text != NULL && text[0] != '\0' && s->parse(s, text, settings))
            continue;
        if (text != NULL && text[0] != '\0' && s->parse == parse_metrics)
            say_bad_metrics(settings, text);
        else if (text != NULL && text[0] != '\0')
            say_bad(s, text, instead);
        s->parse(s, instead, settings);
    }
    settings->lines &= settings->faults != settings->ticks_to; /* of samples of time */
    if (settings->metrics > 1 && settings->python) {
        settings->python = false;
        settings_say(settings, true,
                     "HCCT_PYTHON is for one metric: ", "functions of Python are not shown");
    }
    if (paths_socket(settings->socket, sizeof settings->socket, NULL) >= sizeof settings->socket) {
        settings->socket[0] = '\0';
        settings_say(settings, true, "the socket path is longer than 107 bytes: not profiled; ",
                     "set HCCT_SOCKET to a shorter one");
    }
}
