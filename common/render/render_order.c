/*
 * render_order.c - a head of fixed size, the filters, the profile.
 */
#include "common/render/render_order.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
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
           fflush(out) == 0;
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

bool render_order_read(FILE *in, struct render_order *order) {
    struct head head;
    uint32_t known = 0;

    *order = (struct render_order){.format = NULL};
    while (formats[known].name != NULL)
        known++;
    if (fread(&head, sizeof(head), 1, in) != 1 || head.format >= known ||
        head.by > PROFILE_BY_MODULE || !get_text(in, head.focus_bytes, &order->focus) ||
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
    return order->profile != NULL;
}

void render_order_free(struct render_order *order) {
    free(order->focus);
    free(order->ignore);
    profile_free(order->profile);
    *order = (struct render_order){.format = NULL};
}
