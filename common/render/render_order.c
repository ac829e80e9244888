/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_order.c - contexts, a head of fixed size, the filters, the profile; at the end, where the
 * head is.
 */
#include "common/render/render_order.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/profile/profile_contexts.h"
#include "common/profile/profile_image.h"

#define FILTER_MAX (1u << 20)

struct head {
    uint32_t format;                    /* its place in the table */
    uint32_t focus_bytes, ignore_bytes; /* with their ends; 0: none */
    uint32_t lines, top, width, n, by;  /* options, as format.h has them */
    uint32_t color;
    double cut, phi;
};

static uint32_t text_bytes(const char *text) {
    return text != NULL ? (uint32_t)strlen(text) + 1 : 0;
}

static bool put(FILE *out, const void *bytes, size_t n) {
    return n == 0 || fwrite(bytes, 1, n, out) == n;
}

bool render_order_write(const struct format *format, FILE *out, struct profile *profile,
                        const struct format_options *options) {
    int64_t begin = ftello(out);
    struct head head;

    memset(&head, 0, sizeof(head)); /* what stands between its members, too */
    head.format = (uint32_t)(format - formats);
    head.focus_bytes = text_bytes(options->focus);
    head.ignore_bytes = text_bytes(options->ignore);
    head.lines = options->lines;
    head.top = options->top;
    head.width = options->width;
    head.n = options->n;
    head.by = options->by;
    head.color = options->color;
    head.cut = options->cut;
    head.phi = options->phi;
    return put(out, &head, sizeof(head)) && put(out, options->focus, head.focus_bytes) &&
           put(out, options->ignore, head.ignore_bytes) && profile_image_write(out, profile) &&
           put(out, &begin, sizeof(begin)) && fflush(out) == 0 && !ferror(out);
}

/* *text is NULL where there are none. False: not so many bytes are there. */
static bool get_text(FILE *in, uint32_t bytes, char **text) {
    *text = NULL;
    if (bytes == 0)
        return true;
    if (bytes > FILTER_MAX)
        return false;
    *text = memory_new(1, bytes, "a filter");
    return fread(*text, 1, bytes, in) == bytes && (*text)[bytes - 1] == '\0';
}

/* Where the head is; the file stands there. -1: nowhere. */
static int64_t find_head(FILE *in) {
    int64_t begin;

    if (fseeko(in, -(off_t)sizeof(begin), SEEK_END) != 0 ||
        fread(&begin, sizeof(begin), 1, in) != 1 || begin < 0 || fseeko(in, begin, SEEK_SET) != 0)
        return -1;
    return begin;
}

static bool get_contexts(FILE *in, struct profile *profile, uint64_t bytes) {
    if (bytes == 0)
        return true;
    return fseeko(in, 0, SEEK_SET) == 0 && bytes % sizeof(struct profile_context) == 0 &&
           profile_contexts_add(profile, in, bytes / sizeof(struct profile_context));
}

bool render_order_read(FILE *in, struct render_order *order) {
    struct head head;
    uint32_t known = 0;
    int64_t begin = find_head(in);

    *order = (struct render_order){.format = NULL};
    if (begin < 0)
        return false;
    while (formats[known].name != NULL)
        known++;
    if (fread(&head, sizeof(head), 1, in) != 1 || head.format >= known ||
        head.by > PROFILE_BY_THREAD || !get_text(in, head.focus_bytes, &order->focus) ||
        !get_text(in, head.ignore_bytes, &order->ignore))
        return false;
    order->format = &formats[head.format];
    order->options = (struct format_options){.by = head.by,
                                             .cut = head.cut,
                                             .lines = head.lines,
                                             .top = head.top,
                                             .color = head.color != 0,
                                             .width = head.width,
                                             .n = head.n,
                                             .phi = head.phi,
                                             .focus = order->focus,
                                             .ignore = order->ignore};
    order->profile = profile_image_read(in);
    return order->profile != NULL && get_contexts(in, order->profile, (uint64_t)begin);
}

void render_order_free(struct render_order *order) {
    free(order->focus);
    free(order->ignore);
    profile_free(order->profile);
    *order = (struct render_order){.format = NULL};
}
