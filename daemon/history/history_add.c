/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * history_add.c - parts to one profile, here or where the order has gone.
 */
#include "daemon/history/history_add.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/profile/merge.h"
#include "daemon/history/history_pack.h"

/* ---- adding up ---- */

static bool has_weight(const struct profile *profile) {
    for (uint32_t i = 1; i < profile->n_processes; i++)
        if (profile->processes[i].total > 0)
            return true;
    return false;
}

/* One part alone is the sum by itself. */
static struct profile *add_up(struct profile *live, struct history_part *parts, size_t n,
                              bool errors, char *error, size_t error_bytes) {
    if (n == 1 && live == NULL) {
        struct profile *sum = parts[0].profile;
        if (errors)
            merge_finish(sum, parts[0].trees);
        parts[0].profile = NULL;
        return sum;
    }
    struct merge_part *all = memory_new(n + 1, sizeof *all, "past hours");
    size_t n_all = 0, bad;
    if (live != NULL)
        all[n_all++].profile = live;
    for (size_t i = 0; i < n; i++)
        all[n_all++] = (struct merge_part){parts[i].profile, parts[i].trees};
    struct profile *sum = merge_parts(all, n_all, &bad, error, error_bytes);
    free(all);
    return sum;
}

/* So much time is in it, from here on. */
static void describe(struct profile *sum, const struct history_time *time, uint64_t live_ns) {
    sum->time_ns = time->begin_s * CLOCK_SECOND;
    sum->window_ns = sum->duration_ns = live_ns + time->span_s * CLOCK_SECOND;
    sum->is_past = true;
}

static void name(struct profile *sum, const struct profile *like) {
    sum->marks = profile_string(sum, like->marks);
    sum->title = profile_string(sum, like->title);
    sum->others = profile_string(sum, like->others);
    sum->kernel_ns = like->kernel_ns;
}

struct profile *history_add(struct profile *profile, struct history_part *parts, size_t n,
                            const struct history_time *time, bool errors, char *error,
                            size_t error_bytes) {
    bool live = has_weight(profile);
    uint64_t live_ns = live ? profile->window_ns : 0;
    struct profile *sum = profile;
    if (n > 0)
        sum = add_up(live ? profile : NULL, parts, n, errors, error, error_bytes);
    for (size_t i = 0; i < n; i++) {
        profile_free(parts[i].profile);
        free(parts[i].trees);
    }
    free(parts);
    if (sum != NULL)
        describe(sum, time, live_ns);
    if (sum != NULL && sum != profile)
        name(sum, profile);
    if (sum != profile)
        profile_free(profile);
    return sum;
}

/* ---- as an order ---- */

static void put_word(FILE *out, const char *word) {
    pack_text(out, word != NULL ? word : "");
}

void history_order_write(const struct history_order *order, FILE *out) {
    pack_number(out, order->time.begin_s);
    pack_number(out, order->time.span_s);
    pack_number(out, (uint64_t)order->choice.pid);
    put_word(out, order->choice.exe);
    put_word(out, order->choice.tag);
    pack_number(out, order->days);
    pack_number(out, order->n);
    for (size_t i = 0; i < order->n; i++) {
        pack_number(out, order->hours[i].hour.begin_s);
        pack_number(out, order->hours[i].hour.end_s);
        pack_number(out, order->hours[i].file);
    }
}

static const char *get_word(struct unpack *in) {
    const char *word = unpack_text(in);
    return *word != '\0' ? word : NULL;
}

/* False: it is none. */
static bool read_order(struct history_order *order, const uint8_t *data, size_t bytes,
                       unsigned n_files) {
    struct unpack in = {data, data + bytes, false};
    *order = (struct history_order){.time = {.begin_s = unpack_number(&in)}};
    order->time.span_s = unpack_number(&in);
    order->choice.pid = (pid_t)unpack_number(&in);
    order->choice.exe = get_word(&in);
    order->choice.tag = get_word(&in);
    order->days = unpack_number(&in) != 0;
    order->n = unpack_below(&in, bytes);
    order->hours = memory_new(order->n, sizeof *order->hours, "past hours");
    for (size_t i = 0; i < order->n; i++) {
        order->hours[i].hour.begin_s = unpack_number(&in);
        order->hours[i].hour.end_s = unpack_number(&in);
        order->hours[i].file = unpack_below(&in, n_files);
    }
    return !in.bad && in.at == in.end;
}

/* Hours of the log of hour number `first`; *hours has room for all. Returns how many. */
static size_t hours_of_log(const struct history_order *order, size_t first,
                           struct history_hour *hours) {
    size_t n = 0;
    for (size_t i = first; i < order->n; i++)
        if (order->hours[i].file == order->hours[first].file)
            hours[n++] = order->hours[i].hour;
    return n;
}

static bool is_first_of_log(const struct history_order *order, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (order->hours[k].file == order->hours[i].file)
            return false;
    return true;
}

static struct history_part *read_parts(const struct history_order *order, const int *files,
                                       size_t *n) {
    const struct history_choice choice = {process_choice_wants, &order->choice};
    struct history_hour *hours = memory_new(order->n, sizeof *hours, "past hours");
    struct history_part *parts = NULL, part;
    uint32_t n_parts = 0, room = 0;
    for (size_t i = 0; i < order->n; i++) {
        if (!is_first_of_log(order, i))
            continue;
        size_t n_hours = hours_of_log(order, i, hours);
        if (!history_read_log(files[order->hours[i].file], hours, n_hours, &choice, order->days,
                              &part))
            continue;
        parts = memory_grow(parts, n_parts, &room, sizeof *parts, "the past");
        parts[n_parts++] = part;
    }
    free(hours);
    *n = n_parts;
    return parts;
}

struct profile *history_order_add(const uint8_t *data, size_t bytes, const int *files,
                                  unsigned n_files, struct profile *profile, bool errors,
                                  char *error, size_t error_bytes) {
    struct history_order order;
    struct profile *sum = NULL;
    size_t n;
    if (read_order(&order, data, bytes, n_files)) {
        struct history_part *parts = read_parts(&order, files, &n);
        sum = history_add(profile, parts, n, &order.time, errors, error, error_bytes);
    } else {
        snprintf(error, error_bytes, "the order does not say which hours: ask again");
        profile_free(profile);
    }
    free(order.hours);
    return sum;
}
