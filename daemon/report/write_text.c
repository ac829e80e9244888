/*
 * write_text.c - the report that people read: what was profiled, the hottest functions, the trees
 * of hot contexts, and how far all of it can be trusted.
 */
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report/human.h"
#include "daemon/report/memory.h"
#include "daemon/report/shorten.h"
#include "daemon/report/text.h"
#include "daemon/report/title.h"

static const struct glyphs ascii = {"|- ", "`- ", "|  ", "   ", "-> ", "..", "+-", "x"};
static const struct glyphs unicode = {"├─ ", "└─ ", "│  ", "   ", "→ ", "…", "±", "×"};

static const struct paint plain = {"", "", "", "", ""};
static const struct paint ansi = {"\033[1m", "\033[2m", "\033[1;31m", "\033[33m", "\033[0m"};

#define SHARES_WIDTH 16 /* of the two columns of shares */

#define SHARE_HOT  0.05
#define SHARE_WARM 0.01

/* ---- cells ---- */

double text_share(const struct text *text, uint64_t weight) {
    return text->total > 0 ? (double)weight / (double)text->total : 0;
}

static void cell(const struct text *text, double share) {
    const struct paint *paint = text->paint;
    const char *color = share >= SHARE_HOT ? paint->hot : share >= SHARE_WARM ? paint->warm : "";

    if (share < TEXT_LEAST)
        fprintf(text->out, "%7s", "");
    else
        fprintf(text->out, "%s%5.1f %%%s", color, share * 100, *color != '\0' ? paint->off : "");
}

void text_set_columns(struct text *text) {
    const struct profile *profile = text->profile;
    uint64_t error = 0;

    text->calls = profile_of_calls(profile);
    text->columns = SHARES_WIDTH + 9;
    if (!text->calls)
        return;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        error += profile->nodes[i].error;
    text->count_width = (int)strlen(human_count(text->total).text);
    text->error_width = 1 + (int)strlen(human_count(error).text);
    if (text->count_width < (int)strlen("calls"))
        text->count_width = (int)strlen("calls");
    if (text->error_width < (int)strlen("error"))
        text->error_width = (int)strlen("error");
    text->columns =
        SHARES_WIDTH + 2 + (size_t)text->count_width + 2 + (size_t)text->error_width + 2;
}

static void put_calls(const struct text *text, uint64_t self, uint64_t error) {
    char plus[sizeof(struct human) + 1] = "";

    if (error > 0)
        snprintf(plus, sizeof(plus), "+%s", human_count(error).text);
    fprintf(text->out, "  %*s  %*s  ", text->count_width, self > 0 ? human_count(self).text : "",
            text->error_width, plus);
}

void text_numbers(const struct text *text, uint64_t inclusive, uint64_t self, uint64_t error) {
    double bound = text_share(text, error);
    char plus[16] = "";

    cell(text, text_share(text, inclusive));
    fputs("  ", text->out);
    cell(text, text_share(text, self));
    if (text->calls) {
        put_calls(text, self, error);
        return;
    }
    if (bound >= TEXT_LEAST)
        snprintf(plus, sizeof(plus), "+%.1f", bound * 100);
    fprintf(text->out, " %6s  ", plus);
}

void text_no_numbers(const struct text *text) {
    fprintf(text->out, "%*s", (int)text->columns, "");
}

void text_columns_title(const struct text *text, const char *rest) {
    fprintf(text->out, "%s  incl.     self", text->paint->dim);
    if (text->calls)
        fprintf(text->out, "  %*s  %*s", text->count_width, "calls", text->error_width, "error");
    else
        fputs("  error", text->out);
    fprintf(text->out, "  %s%s\n", rest, text->paint->off);
}

/* ---- names ---- */

const char *text_without_module(const struct text *text, const char *name, uint32_t location) {
    const struct profile *profile = text->profile;
    const char *module =
        profile_basename(profile->modules[profile->locations[location].module].path);
    const char *plus = strrchr(name, '+');

    if (!profile_is_place_name(name) || plus == NULL || plus == name ||
        (size_t)(plus - name) != strlen(module) || strncmp(name, module, strlen(module)) != 0)
        return name;
    return plus;
}

/* ---- processes ---- */

void text_process_name(const struct text *text, const struct profile_process *process) {
    title_put_process(text->out, process);
}

static void put_weight(const struct text *text, uint64_t weight, uint64_t walks) {
    fprintf(text->out, "%s %s", human_weight(text->profile, weight).text,
            human_type(text->profile, weight));
    if (walks > 0 && !text->calls)
        fprintf(text->out, ", %s %s", human_count(walks).text, walks == 1 ? "walk" : "walks");
    if (text->profile->window_ns > 0)
        fprintf(text->out, ", in the last %s", human_time(text->profile->window_ns).text);
}

static uint64_t process_weight(const struct text *text, uint32_t process) {
    return text->view.inclusive[profile_root(text->profile, process)];
}

static void process_title(const struct text *text, uint32_t process, bool with_share) {
    fputs(text->paint->bold, text->out);
    text_process_name(text, &text->profile->processes[process]);
    fprintf(text->out, "%s: ", text->paint->off);
    put_weight(text, process_weight(text, process), text->profile->processes[process].walks);
    if (with_share)
        fprintf(text->out, ", %.1f %% of all",
                text_share(text, process_weight(text, process)) * 100);
    fputs("\n\n", text->out);
}

static void process_cells(const struct text *text, uint64_t weight, uint64_t walks) {
    cell(text, text_share(text, weight));
    fprintf(text->out, "  %*s  ", text->calls ? text->count_width : 11,
            human_weight(text->profile, weight).text);
    if (!text->calls)
        fprintf(text->out, "%10s  ", walks > 0 ? human_count(walks).text : "");
}

/* One line for each process that weighs enough, and one for all others. */
static void process_table(const struct text *text, const uint32_t *order, uint32_t n) {
    uint64_t walks = 0, others = 0, other_walks = 0;

    for (uint32_t i = 0; i < n; i++)
        walks += text->profile->processes[order[i]].walks;
    fprintf(text->out, "%s%" PRIu32 " processes%s: ", text->paint->bold, n, text->paint->off);
    put_weight(text, text->total, walks);
    fprintf(text->out, "\n\n%s  share", text->paint->dim);
    if (text->calls)
        fprintf(text->out, "  %*s", text->count_width, "calls");
    else
        fputs("       weight       walks", text->out);
    fprintf(text->out, "  process%s\n", text->paint->off);
    for (uint32_t i = 0; i < n; i++) {
        const struct profile_process *process = &text->profile->processes[order[i]];
        uint64_t weight = process_weight(text, order[i]);

        if (i >= text->shown) {
            others += weight;
            other_walks += process->walks;
            continue;
        }
        process_cells(text, weight, process->walks);
        text_process_name(text, process);
        fputc('\n', text->out);
    }
    if (n > text->shown) {
        process_cells(text, others, other_walks);
        fprintf(text->out, "%s %" PRIu32 " more process%s\n", PROFILE_PRUNED, n - text->shown,
                n - text->shown == 1 ? "" : "es");
    }
    fputc('\n', text->out);
}

/* ---- the whole ---- */

static void count_below(struct text *text) {
    const struct profile *profile = text->profile;

    text->below = memory_new(profile->n_nodes, sizeof(*text->below), "contexts");
    for (uint32_t i = profile->n_nodes - 1; i > 0; i--) {
        const struct profile_node *node = &profile->nodes[i];

        text->below[i] += node->count > 0 && !profile_is_pruned(profile, node->location);
        text->below[node->parent] += text->below[i];
    }
}

/* Processes, heaviest first: the roots are the children of node 0. */
static uint32_t *order_processes(const struct text *text) {
    const struct profile *profile = text->profile;
    uint32_t *order = memory_new(profile->n_processes, sizeof(*order), "processes");

    for (uint32_t i = text->view.first[0]; i < text->view.first[1]; i++)
        order[i] = profile->nodes[text->view.child[i]].process;
    return order;
}

static const char *what_was_missing(const struct profile *profile) {
    if (strcmp(profile->type, "cpu") == 0)
        return " used too little CPU time to be sampled";
    if (strcmp(profile->type, "wall") == 0)
        return " was gone before the first look at it";
    if (profile_of_calls(profile))
        return " called no instrumented function";
    return " did nothing that is counted";
}

static void write_nothing(const struct text *text) {
    const struct profile *profile = text->profile;
    uint64_t lost = 0;

    for (uint32_t i = 1; i < profile->n_processes; i++)
        lost += profile->processes[i].lost;
    fputs("Nothing to show: ", text->out);
    if (profile->n_processes < 2)
        fputs("no process was profiled", text->out);
    else if (profile->n_processes == 2)
        text_process_name(text, &profile->processes[1]);
    else
        fprintf(text->out, "%" PRIu32 " processes", profile->n_processes - 1);
    if (profile->n_processes > 1)
        fputs(what_was_missing(profile), text->out);
    if (profile->window_ns > 0)
        fprintf(text->out, " in the last %s", human_time(profile->window_ns).text);
    if (lost > 0)
        fprintf(text->out, " (%s ticks were lost)", human_count(lost).text);
    fputs(".\n", text->out);
}

/* A report that can be looked at as a whole, where the user has not said what is to be cut: rows of
 * all trees together, processes that have one, functions where there are several processes. */
#define ROWS          11u
#define ROWS_LEAST    2u
#define TREES_MAX     2u
#define FUNCTIONS_FEW 6u

static bool is_brief(const struct text *text) {
    return text->options->cut == format_default_options.cut;
}

/* The processes share the rows by their weight. */
static uint32_t rows_of(const struct text *text, uint32_t process) {
    uint32_t rows = (uint32_t)(ROWS * text_share(text, process_weight(text, process)) + 0.5);

    if (!is_brief(text))
        return 0;
    return rows > ROWS_LEAST ? rows : ROWS_LEAST;
}

/* What was recorded. */
static void put_title(const struct text *text) {
    char *title = shorten(text->profile->title, text->options->width, text->glyphs->gap);

    if (*title != '\0')
        fprintf(text->out, "%s%s%s\n", text->paint->bold, title, text->paint->off);
    free(title);
}

static void write_report(struct text *text) {
    uint32_t n = text->profile->n_processes - 1;
    uint32_t *order = order_processes(text);

    put_title(text);

    while (text->shown < n && process_weight(text, order[text->shown]) > 0 &&
           process_weight(text, order[text->shown]) >= text->least &&
           !(is_brief(text) && text->shown == TREES_MAX))
        text->shown++;
    if (n > 1)
        process_table(text, order, n);
    else
        process_title(text, order[0], false);
    text_table(text, n > 1 && is_brief(text) ? FUNCTIONS_FEW : text->options->top);
    for (uint32_t i = 0; i < text->shown; i++) {
        if (n > 1)
            process_title(text, order[i], true);
        text_tree(text, order[i], rows_of(text, order[i]));
        fputc('\n', text->out);
    }
    text_summary(text);
    free(order);
}

bool write_text(FILE *out, const struct profile *profile, const struct format_options *options) {
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    struct text text = {.out = out,
                        .options = options,
                        .glyphs = utf8 ? &unicode : &ascii,
                        .paint = options->color ? &ansi : &plain};
    struct profile *grouped = format_select(profile, options);

    text.profile = grouped;
    text.total = profile_total(grouped);
    text.least = (uint64_t)(options->cut * (double)text.total);
    text_set_columns(&text);
    tree_view_make(&text.view, grouped);
    count_below(&text);
    if (text.total == 0)
        write_nothing(&text);
    else
        write_report(&text);
    tree_view_free(&text.view);
    free(text.below);
    profile_free(grouped);
    return fflush(out) == 0 && !ferror(out);
}
