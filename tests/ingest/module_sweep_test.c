/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module_sweep_test.c - a user whose programs, one after the other, have more modules than one user
 * may have at once: none is refused. What a living process has mapped and what a finished one's
 * tree is in stays what it was.
 */
#include <unistd.h>

#include "common/code/frame.h"
#include "common/code/module.h"
#include "common/tree/summary.h"
#include "daemon/ingest/drain.h"
#include "daemon/ingest/frame_sweep.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"

#define USER     ((uid_t)65528) /* not this program's own, who may have more */
#define PROGRAMS 12u
#define EACH     1000u /* modules: a few times the limit in all */
#define START    0x10000000ull

static uint32_t invented;

/* One module more, of a build-id that nothing else has. */
static void tell_module(struct process *process) {
    struct wire_session *session = process->memory.session;
    uint32_t i = session->modules_used;
    struct wire_module *module = session_memory_module(&process->memory, i);
    invented++;
    module->start = START + i * 0x1000ull;
    module->end = module->start + 0x1000;
    module->bias = module->start;
    module->path_len =
        (uint16_t)snprintf(module->path, sizeof module->path, "/nowhere/%u", invented);
    memset(module->build_id, 0x77, sizeof module->build_id);
    memcpy(module->build_id, &invented, sizeof invented);
    module->build_id_len = 20;
    atomic_store(&module->filled, 1);
    session->modules_used++;
}

static struct process *begin(unsigned modules) {
    const struct process_params params = {
        .pid = getpid(),
        .uid = USER,
        .sampling = {.rate = 100},
        .tree = {.summary = &summary_exact, .epsilon = 0.001},
    };
    struct process *process = process_new(&params);
    CHECK(process != NULL);
    registry_ref(process); /* this test's */
    registry_add(process);
    atomic_store(&session_memory_slot(&process->memory, 0)->state, WIRE_SLOT_OWNED);
    atomic_store(&process->memory.session->slots_used, 1);
    for (unsigned i = 0; i < modules; i++) {
        if (i == process->memory.modules_ready)
            process_drain(process, NULL, NULL);
        tell_module(process);
    }
    process_drain(process, NULL, NULL);
    return process;
}

static void end(struct process *process) {
    process_finish(process);
    registry_put(process);
}

/* The tree gets a context in the process's first module, whose id is returned. */
static uint32_t credit(struct process *process) {
    struct mcct_cursor cursor;
    struct frame_key key = {0};
    uint32_t frame = addresses_frame(process->addresses, START + 0x10, 0);
    mcct_cursor_open(process->tree, &cursor);
    mcct_push(&cursor, frame);
    mcct_credit(&cursor, 1);
    mcct_cursor_close(&cursor);
    CHECK(frame_get(frame, &key) && key.routine_module != MODULE_JIT);
    return key.routine_module;
}

static void look(void *usage, const struct module_usage *of) {
    if (of->uid == USER)
        *(struct module_usage *)usage = *of;
}

static struct module_usage usage_now(void) {
    struct module_usage usage = {0};
    module_usage_all(look, &usage);
    return usage;
}

/* The sweep has its time: programs do not come faster than it can look. */
static bool is_swept(uint32_t most) {
    for (int ms = 0; ms < 30000 && usage_now().modules > most; ms++)
        usleep(1000);
    return usage_now().modules <= most;
}

static bool is_there(uint32_t id, const char *path) {
    struct module_info info;
    return module_get(id, &info) && strcmp(info.path, path) == 0;
}

int main(void) {
    CHECK(frame_sweep_start());
    struct process *living = begin(1), *finished = begin(1);
    uint32_t mapped = credit(living), in_tree = credit(finished);
    CHECK(mapped != in_tree);
    end(finished);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct process *process = begin(EACH);
        CHECK(usage_now().modules >= EACH);
        end(process);
        CHECK(is_swept(MODULES_USER_MAX - EACH));
    }
    CHECK_UINT(usage_now().refused, 0);
    CHECK(is_there(mapped, "/nowhere/1"));
    CHECK(is_there(in_tree, "/nowhere/2"));
    end(living);
    frame_sweep_stop();
    registry_clear();
    return check_report();
}
