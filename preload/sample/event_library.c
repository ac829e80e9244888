/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * event_library.c - weak symbols that are there or not.
 */
#include "preload/sample/event_library.h"

#include <stddef.h>
#include <string.h>

#include "common/wire/compiler.h"
#include "common/wire/metric.h"
#include "common/wire/wire.h"
#include "preload/blocks/link.h"
#include "preload/locks/link.h"

static struct event_link *link_of_blocks(void) {
    return &hcct_blocks_link != NULL ? &hcct_blocks_link.event : NULL;
}

static struct event_link *link_of_locks(void) {
    return &hcct_locks_link;
}

static struct event_link *link_of_held(void) {
    return &hcct_held_link != NULL ? &hcct_held_link.event : NULL;
}

static const struct library {
    bool (*is_its)(uint32_t collector);
    struct event_link *(*link)(void);
    uint32_t build; /* of the links that this agent can fill in */
    const char *name;
} libraries[] = {
    {wire_of_blocks, link_of_blocks, EVENT_LINK_BUILD(struct blocks_link), "libhcctblocks.so"},
    {wire_of_waits, link_of_locks, EVENT_LINK_BUILD(struct event_link), "libhcctlocks.so"},
    {wire_of_held, link_of_held, EVENT_LINK_BUILD(struct held_link), "libhcctlocks.so"},
};

/* NULL: it is not there, or is another build's, whose link is made otherwise. */
static struct event_link *known_link(const struct library *library) {
    struct event_link *link = library->link();
    return link != NULL && link->build == library->build ? link : NULL;
}

struct event_link *event_library_link(uint32_t collector) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(libraries); i++)
        if (libraries[i].is_its(collector))
            return known_link(&libraries[i]);
    return NULL;
}

static bool can_be_had(uint32_t collector) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(libraries); i++)
        if (libraries[i].is_its(collector))
            return known_link(&libraries[i]) != NULL;
    return true;
}

/* ---- the sentence ---- */

#define SENTENCE_ROOM 400 /* of all names and more */

struct sentence {
    char text[SENTENCE_ROOM];
    size_t used;
};

static void add(struct sentence *sentence, const char *part) {
    size_t n = strlen(part), room = sizeof sentence->text - 1 - sentence->used;
    n = n < room ? n : room;
    memcpy(sentence->text + sentence->used, part, n);
    sentence->used += n;
    sentence->text[sentence->used] = '\0';
}

/* The metrics that can be had, or those that can't, with commas between them. */
static void add_metrics(struct sentence *sentence, const struct agent_settings *settings,
                        bool had) {
    const char *before = "";
    for (unsigned i = 0; i < settings->metrics; i++) {
        if (can_be_had(settings->metric[i]) != had)
            continue;
        add(sentence, before);
        add(sentence, metric_word_of_kind(metric_kind(settings->metric[i], settings->clock)));
        before = ", ";
    }
}

/* Those that are not there, or are there and of another build. False: there are no such. */
static bool add_libraries(struct sentence *sentence, const struct agent_settings *settings,
                          bool there, const char *before) {
    const char *last = NULL;
    for (size_t i = 0; i < HCCT_ARRAY_LEN(libraries); i++) {
        const struct library *library = &libraries[i];
        if (!settings_have(settings, library->is_its) || known_link(library) != NULL ||
            (library->link() != NULL) != there ||
            (last != NULL && strcmp(last, library->name) == 0))
            continue;
        add(sentence, last != NULL ? " and " : before);
        add(sentence, library->name);
        last = library->name;
    }
    return last != NULL;
}

static void say(const struct agent_settings *settings, bool some) {
    struct sentence sentence = {.used = 0};
    add_metrics(&sentence, settings, false);
    add(&sentence, " can't be sampled");
    if (add_libraries(&sentence, settings, false, ": "))
        add(&sentence, " must follow libhcctagent.so in LD_PRELOAD");
    if (add_libraries(&sentence, settings, true, ": "))
        add(&sentence, " in LD_PRELOAD and libhcctagent.so are of different builds");
    add(&sentence, some ? "; only " : "; this process is not profiled");
    add_metrics(&sentence, settings, true);
    add(&sentence, some ? " will be" : "");
    settings_say(settings, true, "HCCT_METRICS: ", sentence.text);
}

bool event_library_choose(struct agent_settings *settings) {
    unsigned had = 0;
    for (unsigned i = 0; i < settings->metrics; i++)
        had += can_be_had(settings->metric[i]);
    if (had == settings->metrics)
        return true;
    say(settings, had > 0);
    if (had > 0)
        settings_keep_metrics(settings, can_be_had);
    return had > 0;
}
