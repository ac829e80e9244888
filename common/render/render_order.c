/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * render_order.c - contexts, a head of fixed size, the filters, the profile; at the end, where the
 * head is. All of that twice where two profiles are compared.
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
    uint32_t color, as, is_part;
    double cut, phi;
    int64_t start; /* where the contexts are, or what is to be added; what is before them is the
                    * order before */
};

static uint32_t text_bytes(const char *text) {
    return text != NULL ? (uint32_t)strlen(text) + 1 : 0;
}

static bool put(FILE *out, const void *bytes, size_t n) {
    return n == 0 || fwrite(bytes, 1, n, out) == n;
}

static bool write_order(const struct format *format, FILE *out, int64_t start,
                        struct profile *profile, const struct format_options *options,
                        enum render_order_as as, bool is_part) {
    int64_t begin = ftello(out);
    struct head head;

    memset(&head, 0, sizeof head); /* what stands between its members, too */
    head.format = (uint32_t)(format - formats);
    head.focus_bytes = text_bytes(options->focus);
    head.ignore_bytes = text_bytes(options->ignore);
    head.lines = options->lines;
    head.top = options->top;
    head.width = options->width;
    head.n = options->n;
    head.by = options->by;
    head.color = options->color;
    head.as = as;
    head.is_part = is_part;
    head.cut = options->cut;
    head.phi = options->phi;
    head.start = start;
    return put(out, &head, sizeof head) && put(out, options->focus, head.focus_bytes) &&
           put(out, options->ignore, head.ignore_bytes) && profile_image_write(out, profile) &&
           put(out, &begin, sizeof begin) && fflush(out) == 0 && !ferror(out);
}

bool render_order_write(const struct format *format, FILE *out, int64_t start,
                        struct profile *profile, const struct format_options *options,
                        enum render_order_as as) {
    return write_order(format, out, start, profile, options, as, false);
}

bool render_order_write_part(const struct format *format, FILE *out, int64_t start,
                             struct profile *profile, const struct format_options *options,
                             enum render_order_as as) {
    return write_order(format, out, start, profile, options, as, true);
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

/* Where the head is of the order that ends at `end`; the file stands there. -1: nowhere. */
static int64_t find_head(FILE *in, int64_t end) {
    int64_t begin;
    if (fseeko(in, end - (int64_t)sizeof begin, SEEK_SET) != 0 ||
        fread(&begin, sizeof begin, 1, in) != 1 || begin < 0 || begin >= end ||
        fseeko(in, begin, SEEK_SET) != 0)
        return -1;
    return begin;
}

static bool get_contexts(FILE *in, struct profile *profile, int64_t start, int64_t end) {
    uint64_t bytes = (uint64_t)(end - start);
    if (bytes == 0)
        return true;
    return fseeko(in, start, SEEK_SET) == 0 && bytes % sizeof(struct profile_context) == 0 &&
           profile_contexts_add(profile, in, bytes / sizeof(struct profile_context));
}

/* The profile becomes what it is a part of. */
static bool add_to_part(FILE *in, struct render_order *order, int64_t start, int64_t end,
                        const struct render_adder *by) {
    size_t bytes = (size_t)(end - start);
    uint8_t *what = memory_new(bytes, 1, "an order");
    bool got = by != NULL && fseeko(in, start, SEEK_SET) == 0 && fread(what, 1, bytes, in) == bytes;
    if (got)
        order->profile = by->add(by->arg, order, order->profile, what, bytes);
    free(what);
    return got && order->profile != NULL;
}

/* Of the order that ends at `end`. *start: where it begins, *as: what it is to the one before.
 * False: it is none. */
static bool read_order(FILE *in, int64_t end, struct render_order *order, int64_t *start,
                       enum render_order_as *as, const struct render_adder *by) {
    struct head head;
    uint32_t known = 0;
    int64_t begin = find_head(in, end);

    if (begin < 0)
        return false;
    while (formats[known].name != NULL)
        known++;
    if (fread(&head, sizeof head, 1, in) != 1 || head.format >= known || head.by >= PROFILE_BYS ||
        head.start < 0 || head.start > begin || !get_text(in, head.focus_bytes, &order->focus) ||
        !get_text(in, head.ignore_bytes, &order->ignore))
        return false;
    *start = head.start;
    *as = head.as == RENDER_BESIDE ? RENDER_BESIDE : RENDER_AFTER;
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
    return order->profile != NULL && ftello(in) == end - (int64_t)sizeof begin &&
           (head.is_part != 0 ? add_to_part(in, order, head.start, begin, by)
                              : get_contexts(in, order->profile, head.start, begin));
}

/* Takes in the profile of the order that ends at *end, which goes to where that begins; *as of
 * both.
 */
static bool read_earlier(FILE *in, int64_t *end, enum render_order_as *as,
                         struct render_order *order, const struct render_adder *by) {
    struct render_order earlier = {.format = NULL};
    enum render_order_as is = *as;
    bool has_room =
        is == RENDER_BESIDE ? order->n_others < WIRE_METRICS_MAX : order->before == NULL;
    bool read = has_room && read_order(in, *end, &earlier, end, as, by);

    if (read && is == RENDER_BESIDE)
        order->others[order->n_others++] = earlier.profile;
    else if (read)
        order->before = earlier.profile;
    if (read)
        earlier.profile = NULL;
    render_order_free(&earlier);
    return read;
}

bool render_order_read(FILE *in, struct render_order *order) {
    return render_order_read_parts(in, order, NULL);
}

bool render_order_read_parts(FILE *in, struct render_order *order, const struct render_adder *by) {
    enum render_order_as as;
    int64_t start;
    *order = (struct render_order){.format = NULL};
    if (fseeko(in, 0, SEEK_END) != 0 || !read_order(in, ftello(in), order, &start, &as, by))
        return false;
    while (start > 0)
        if (!read_earlier(in, &start, &as, order, by))
            return false;
    order->options.others = (const struct profile *const *)order->others;
    order->options.n_others = order->n_others;
    return true;
}

void render_order_free(struct render_order *order) {
    free(order->focus);
    free(order->ignore);
    profile_free(order->before);
    for (unsigned i = 0; i < order->n_others; i++)
        profile_free(order->others[i]);
    profile_free(order->profile);
    *order = (struct render_order){.format = NULL};
}
