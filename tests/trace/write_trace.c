/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_trace.c - writes a trace as the daemon would of a program that calls functions of this one.
 *
 *   write_trace FILE         main calls work 600 times, work calls leaf 5 times each; idle 100
 * times write_trace FILE bare    a trace in which nothing happens write_trace FILE killed  all that
 * 200 times, by a daemon that is killed before the end
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/code/frame.h"
#include "common/code/module.h"
#include "common/trace/trace_writer.h"

/* Places for the trace to speak of. */
__attribute__((noinline)) void leaf(void);
__attribute__((noinline)) void work(void);
__attribute__((noinline)) void idle(void);

static volatile unsigned done;

void leaf(void) {
    done++;
}

void work(void) {
    for (int i = 0; i < 5; i++)
        leaf();
    done++;
}

void idle(void) {
    done += 2;
}

int main(int argc, char **argv);

static int note_bias(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    *(uint64_t *)arg = info->dlpi_addr;
    return 1; /* the first is the program */
}

/* The frame of `routine`, called from `caller` (NULL: outermost). */
static uint32_t frame(uint32_t module, uint64_t bias, uintptr_t routine, uintptr_t caller) {
    return frame_intern(&(struct frame_key){.routine_module = module,
                                            .site_module = caller != 0 ? module : 0,
                                            .routine = routine - bias,
                                            .site = caller != 0 ? caller + 4 - bias : 0});
}

static void call_all(struct trace_thread *thread) {
    uint64_t bias = 0;
    dl_iterate_phdr(note_bias, &bias);
    uint32_t module = module_intern(&(struct module_mapping){
        .pid = getpid(), .start = (uintptr_t)work & ~(uintptr_t)4095, .path = ""});
    uint32_t f_main = frame(module, bias, (uintptr_t)main, 0);
    uint32_t f_work = frame(module, bias, (uintptr_t)work, (uintptr_t)main);
    uint32_t f_leaf = frame(module, bias, (uintptr_t)leaf, (uintptr_t)work);
    uint32_t f_idle = frame(module, bias, (uintptr_t)idle, (uintptr_t)main);
    trace_call(thread, f_main);
    for (int i = 0; i < 600; i++) {
        trace_call(thread, f_work);
        for (int j = 0; j < 5; j++) {
            trace_call(thread, f_leaf);
            trace_return(thread);
        }
        trace_return(thread);
    }
    for (int i = 0; i < 100; i++) {
        trace_call(thread, f_idle);
        trace_return(thread);
    }
    trace_return(thread);
}

int main(int argc, char **argv) {
    char error[512];
    struct trace_thread thread;
    const struct profile_process about = {.exe = "/opt/app/server",
                                          .command = "server",
                                          .pid = 4711,
                                          .runs = 1,
                                          .collector = "calls",
                                          .every = 1,
                                          .credit = "last",
                                          .clock = "cpu",
                                          .threads = 1};
    struct trace_writer *writer = argc > 1 ? trace_writer_open(argv[1], error, sizeof error) : NULL;
    if (writer == NULL) {
        fprintf(stderr, "write_trace: %s\n", argc > 1 ? error : "name a file");
        return EXIT_FAILURE;
    }
    struct trace_process *process = trace_process_begin(writer, &about, 1700000000000000000ull, 0);
    trace_thread_begin(&thread, process);
    const char *how = argc > 2 ? argv[2] : "whole";
    bool killed = strcmp(how, "killed") == 0;
    for (int i = strcmp(how, "bare") == 0 ? 0 : killed ? 200 : 1; i > 0; i--)
        call_all(&thread);
    if (killed)
        _exit(EXIT_SUCCESS);
    trace_thread_end(&thread);
    trace_process_end(process, &about, 2000000000);
    return trace_writer_close(writer, NULL) ? EXIT_SUCCESS : EXIT_FAILURE;
}
