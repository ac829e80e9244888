/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * page_facts.c - lines of the text report's summary as pairs of strings.
 *
 * A line there has a word in its first ten columns, then a sentence, which goes on in lines that
 * begin with blanks.
 */
#include "common/render/page_facts.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/render/format.h"
#include "common/render/text.h"

#define LABEL 10 /* columns of a summary's first word */

/* By root, as the summary asks for it: contexts with weight of their own. */
static uint64_t *count_contexts(const struct profile *profile) {
    uint64_t *below = memory_new(profile->n_nodes, sizeof *below, "contexts");
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        const struct profile_node *node = &profile->nodes[i];
        if (node->count > 0 && !profile_is_pruned(profile, node->location))
            below[profile_root(profile, node->process)]++;
    }
    return below;
}

/* To be freed. */
static char *summary_lines(const struct profile *profile, uint64_t total) {
    static const struct glyphs glyphs = {.plus_minus = "\u00b1", .times = "\u00d7"};
    static const struct paint paint = {"", "", "", "", ""};
    char *lines;
    struct text text = {.out = memory_stream("the summary"),
                        .profile = profile,
                        .options = &format_default_options,
                        .glyphs = &glyphs,
                        .paint = &paint,
                        .total = total,
                        .calls = profile_of_calls(profile),
                        .below = count_contexts(profile)};
    tree_view_make(&text.view, profile);
    text_summary(&text);
    lines = memory_stream_end(text.out, NULL, "the summary");
    tree_view_free(&text.view);
    free(text.below);
    return lines;
}

/* Columns of the label that a line begins with; 0: it goes on with the one before. */
static size_t label_length(const char *line, size_t length) {
    size_t label = length < LABEL ? length : LABEL;
    while (label > 0 && line[label - 1] == ' ')
        label--;
    return label;
}

/* Appends the sentence of the line at `line`, and of those that go on with it, to `text`: the line
 * after them. */
static const char *join_sentence(const char *line, char *text) {
    bool first = true;

    do {
        size_t length = strcspn(line, "\n"), skip = length < LABEL ? length : LABEL;
        if (!first)
            *text++ = ' ';
        memcpy(text, line + skip, length - skip);
        text += length - skip;
        line += length + (line[length] == '\n');
        first = false;
    } while (*line != '\0' && label_length(line, strcspn(line, "\n")) == 0);
    *text = '\0';
    return line;
}

void page_facts_put(struct json_out *json, const struct profile *profile, uint64_t total) {
    if (total == 0)
        return;
    char *lines = summary_lines(profile, total);
    char *sentence = memory_new(strlen(lines) + 1, 1, "the summary");

    for (const char *line = lines; *line != '\0';) {
        const char *label = line;
        line = join_sentence(line, sentence);
        json_begin(json, '[');
        json_part(json, label, label_length(label, strcspn(label, "\n")));
        json_string(json, sentence);
        json_end(json, ']');
    }
    free(sentence);
    free(lines);
}
