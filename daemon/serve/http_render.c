/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * http_render.c - a slot, the order, the wait.
 */
#include "daemon/serve/http_render.h"

#include "daemon/render/render_slots.h"
#include "daemon/render/renderer.h"
#include "daemon/serve/http_jobs.h"

#define PATIENCE_S 60 /* for a slot */

static enum query_status take_slot(uid_t uid, struct query_error *error) {
    if (render_slot_try(uid))
        return QUERY_OK;
    if (!http_jobs_sleep(uid))
        return query_no_memory("a thread that waits", error);
    bool taken = render_slot_wait(uid, PATIENCE_S);
    http_jobs_wake(uid);
    if (taken)
        return QUERY_OK;
    snprintf(error->text, sizeof error->text,
             "too many answers are being rendered (%u of one user, %u of all at once): ask again "
             "when some are done",
             RENDER_SLOTS_USER, RENDER_SLOTS_MAX);
    return QUERY_UNAVAILABLE;
}

static enum query_status write_order(const struct query *query, struct rendering *rendering,
                                     struct query_error *error) {
    struct query to_render = *query;
    to_render.to_render = &rendering->files;
    enum query_status status = query_hot(&to_render, rendering->order, error);
    if (!rendering_order_done(rendering) && status == QUERY_OK)
        status = query_no_memory("the answer", error);
    return status;
}

static enum query_status wait_for_answer(struct rendering *rendering, uid_t uid, int client,
                                         struct query_error *error) {
    if (!http_jobs_sleep(uid))
        return query_no_memory("a thread that waits", error);
    unsigned status = rendering_run(rendering, client, error->text, sizeof error->text);
    http_jobs_wake(uid);
    return (enum query_status)status;
}

enum query_status http_render(const struct query *query, int client, int *file, size_t *bytes,
                              struct query_error *error) {
    struct rendering rendering;
    enum query_status status = take_slot(query->asker, error);
    if (status != QUERY_OK)
        return status;
    if (rendering_open(&rendering)) {
        status = write_order(query, &rendering, error);
        if (status == QUERY_OK)
            status = wait_for_answer(&rendering, query->asker, client, error);
        *bytes = rendering.bytes;
        if (status == QUERY_OK)
            *file = rendering_keep(&rendering);
        rendering_close(&rendering);
    } else {
        status = query_no_memory("the answer", error);
    }
    render_slot_give(query->asker);
    return status;
}
