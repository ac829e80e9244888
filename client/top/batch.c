/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * batch.c - what the screen would show, for scripts and logs.
 */
#include "client/top/batch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/top/cells.h"
#include "client/top/head.h"
#include "common/base/options.h"

#define LEAST_SHARE 0.005 /* what has less is left out */

static void put(const struct top_line *line) {
    size_t end = line->used;
    while (end > 0 && line->text[end - 1] == ' ')
        end--;
    printf("%.*s\n", (int)end, line->text);
}

static void put_head(const struct top_model *model, const char *window, unsigned width) {
    struct top_line line;
    char what[32];
    top_line_begin(&line, width);
    top_head_who(&line, model);
    put(&line);
    top_line_begin(&line, width);
    top_head_total(&line, model, -1, NULL, "");
    put(&line);
    top_line_begin(&line, width);
    top_head_error(&line, model);
    put(&line);
    if (!top_model_has_recent(model))
        return;
    snprintf(what, sizeof what, "the last %s", window);
    top_line_begin(&line, width);
    top_head_recent(&line, model, what);
    put(&line);
}

static void put_rows(const struct top_tree *tree, const struct top_layout *layout) {
    struct top_view view = {.least = LEAST_SHARE, .open = TOP_OPEN_ALL};
    struct top_rows rows = {0};
    struct top_line line;
    unsigned place;
    top_rows_make(&rows, tree, &view);
    for (uint32_t i = 0; i < rows.n; i++) {
        top_line_begin(&line, layout->width);
        top_cells_row(&line, layout, tree, &rows.row[i], &place);
        put(&line);
    }
    top_rows_free(&rows);
}

static void put_model(const struct top_model *model, const struct top_request *request,
                      enum top_shape shape, unsigned width) {
    bool recent = top_model_has_recent(model);
    struct top_tree shaped = {0};
    struct top_layout layout;
    struct top_line line;
    char title[16];
    put_head(model, request->window, width);
    snprintf(title, sizeof title, "%s%%", recent ? request->window : "");
    top_layout_make(&layout, width, recent, model->bounded);
    top_line_begin(&line, width);
    top_cells_title(&line, &layout, shape, TOP_BY_TOTAL, title);
    put(&line);
    if (shape != TOP_CONTEXTS)
        top_shape_make(&shaped, shape, &model->tree);
    put_rows(shape == TOP_CONTEXTS ? &model->tree : &shaped, &layout);
    top_tree_free(&shaped);
}

static int complain_of(const struct top_response *response) {
    complain("%s", response->sentence);
    switch (response->outcome) {
    case TOP_NO_DAEMON:
        return HCCT_EXIT_NO_DAEMON;
    case TOP_NOT_FOUND:
        return HCCT_EXIT_NO_DATA;
    default:
        return HCCT_EXIT_FAILURE;
    }
}

static int iterate(const struct top_source *source, const struct top_request *request,
                   enum top_shape shape, unsigned width) {
    struct top_response response;
    int status = HCCT_EXIT_OK;
    top_client_once(source, request, &response);
    if (response.outcome != TOP_ANSWERED) {
        status = complain_of(&response);
    } else if (response.window_refused) {
        complain("%s", response.sentence);
        status = HCCT_EXIT_USAGE;
    } else {
        put_model(response.model, request, shape, width);
    }
    top_response_clear(&response);
    if (status == HCCT_EXIT_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        complain("stdout can't be written: %s", strerror(errno));
        status = HCCT_EXIT_FAILURE;
    }
    return status;
}

int top_batch(const struct top_source *source, const struct top_request *request,
              enum top_shape shape, unsigned iterations, unsigned width) {
    double whole = floor(request->delay);
    struct timespec delay = {(time_t)whole, (long)((request->delay - whole) * 1e9)};
    for (unsigned i = 0; i < iterations || iterations == 0; i++) {
        if (i > 0) {
            nanosleep(&delay, NULL);
            putchar('\n');
        }
        int status = iterate(source, request, shape, width);
        if (status != HCCT_EXIT_OK)
            return status;
    }
    return HCCT_EXIT_OK;
}
