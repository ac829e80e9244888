/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * view.c - from words to format_options: by what, which format, colour, width.
 */
#include "client/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/profile/filter.h"

#define WIDTH_MAX 10000 /* as hcctd takes it */

static bool resolve_format(const struct view_options *given, const struct format *fallback,
                           const struct format **format) {
    *format = fallback;
    if (given->format != NULL) {
        *format = format_find(given->format);
        if (*format == NULL)
            complain("there is no format '%s'; there are: " FORMAT_NAMES, given->format);
        return *format != NULL;
    }
    const struct format *suffix = given->output != NULL ? format_by_suffix(given->output) : NULL;
    if (suffix != NULL)
        *format = suffix;
    return true;
}

static bool resolve_color(const char *word, int fd, bool *color) {
    if (word == NULL || strcmp(word, "auto") == 0) {
        const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
        *color = isatty(fd) && (no_color == NULL || no_color[0] == '\0') && term != NULL &&
                 strcmp(term, "dumb") != 0;
        return true;
    }
    *color = strcmp(word, "always") == 0;
    if (*color || strcmp(word, "never") == 0)
        return true;
    complain("--color '%s': it must be auto, always or never", word);
    return false;
}

/* $COLUMNS, 0 where it says nothing. */
static unsigned wanted_width(void) {
    const char *word = getenv("COLUMNS");
    char *end;
    long columns = word != NULL ? strtol(word, &end, 10) : 0;
    return columns > 0 && columns <= WIDTH_MAX && *end == '\0' ? (unsigned)columns : 0;
}

/* Columns that text has at `fd` (-1: a file that was named): as COLUMNS says, else those of the
 * terminal; 0: it is none, so lines may be as long as they are. */
static unsigned resolve_width(int fd) {
    struct winsize size;
    if (fd < 0)
        return 0;
    if (wanted_width() > 0)
        return wanted_width();
    if (!isatty(fd))
        return 0;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static bool resolve_filter(const char *option, const char *expression, const char **filter) {
    char error[300];
    *filter = expression;
    if (expression == NULL || filter_check(expression, error, sizeof error))
        return true;
    complain("%s %s", option, error);
    return false;
}

bool view_resolve(const struct view_options *given, const struct format *fallback, int fd,
                  struct view *view) {
    view->options = format_default_options;
    if (given->by != NULL && !profile_by_parse(given->by, &view->options.by)) {
        complain("--by '%s': it must be function, site, line, module, thread or label", given->by);
        return false;
    }
    if (given->cut >= 0)
        format_set_cut(&view->options, given->cut);
    if (given->top != UINT_MAX)
        format_set_top(&view->options, given->top);
    view->options.n = given->n;
    view->options.width = resolve_width(fd);
    return resolve_filter("--focus", given->focus, &view->options.focus) &&
           resolve_filter("--ignore", given->ignore, &view->options.ignore) &&
           resolve_color(given->color, fd, &view->options.color) &&
           resolve_format(given, fallback, &view->format);
}

bool view_spoils_terminal(const struct format *format, int fd) {
    if (!format->binary || !isatty(fd))
        return false;
    complain("%s is not for a terminal: say where it goes, with -o FILE", format->name);
    return true;
}
