/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * panels.c - threads, processes and keys, a line each.
 */
#include "client/top/panels.h"

#include <inttypes.h>
#include <stdio.h>

#include "client/top/keys.h"
#include "common/render/format_number.h"

static void thread_title(struct top_line *line, const struct top_ui *ui) {
    top_line_add(line,
                 "   pid     tid  total%   now%        time   samples    lost  state     thread");
    if (ui->threads.ended > 0)
        top_line_print(line, "   (%s ended, %s)", format_count(ui->threads.ended).text,
                       format_time(ui->threads.ended_ns).text);
}

static void thread_row(struct top_line *line, const struct top_ui *ui, uint32_t row) {
    const struct top_thread *thread = &ui->threads.item[row];
    char total[16] = "", now[16] = "";
    if (ui->threads.credited_ns > 0)
        snprintf(total, sizeof total, "%.1f",
                 100 * (double)thread->credited_ns / (double)ui->threads.credited_ns);
    if (thread->recent >= 0)
        snprintf(now, sizeof now, "%.1f", 100 * thread->recent);
    top_line_print(line, "%6" PRIu32 "  %6" PRIu32 "  %6s %6s  %10s %9s %7s  %-9.20s ", thread->pid,
                   thread->tid, total, now, format_time(thread->credited_ns).text,
                   format_count(thread->walks).text, format_count(thread->lost).text,
                   thread->state);
    top_line_name(line, thread->name, 0);
}

static void process_row(struct top_line *line, const struct top_ui *ui, uint32_t row) {
    if (row == 0) {
        top_line_add(line, "   all  processes together");
        return;
    }
    const struct listed_process *process = &ui->processes.item[row - 1];
    char pid[16] = "-", weight[64];
    if (process->pid != 0)
        snprintf(pid, sizeof pid, "%" PRIu32, process->pid);
    if (process->calls)
        snprintf(weight, sizeof weight, "%.20s calls", format_count(process->total).text);
    else
        snprintf(weight, sizeof weight, "%s", format_time(process->total).text);
    top_line_print(line, "%6s  %-8s  %14s %11s  ", pid, process->live ? "running" : "finished",
                   weight, format_count(process->walks).text);
    top_line_name(line, process->command, 30);
    top_line_add(line, "  ");
    top_line_name(line, process->exe, 0);
}

void top_panel_title(struct top_line *line, const struct top_ui *ui) {
    if (ui->panel == TOP_PANEL_THREADS)
        thread_title(line, ui);
    else if (ui->panel == TOP_PANEL_PROCESSES)
        top_line_add(line,
                     "   pid  state                  N     samples  command  (Enter takes it)");
    else
        top_line_add(line, "key            what it does  (Esc goes back)");
}

void top_panel_row(struct top_line *line, const struct top_ui *ui, uint32_t row) {
    const char *keys, *help;
    if (ui->panel == TOP_PANEL_THREADS) {
        thread_row(line, ui, row);
    } else if (ui->panel == TOP_PANEL_PROCESSES) {
        process_row(line, ui, row);
    } else {
        top_keys_line(row, &keys, &help);
        top_line_print(line, "%-13s  %s", keys, help);
    }
}
