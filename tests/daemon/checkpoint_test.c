/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * checkpoint_test.c - what a checkpoint says is what was there; a damaged one is refused, whatever
 * the damage; trees keep their bounds in a summary of another size and kind.
 */
#include "daemon/state/checkpoint_fields.h"
#include "daemon/state/checkpoint_file.h"
#include "daemon/state/checkpoint_load.h"
#include "daemon/state/checkpoint_save.h"

#include <unistd.h>
#include <zlib.h>

#include "common/code/frame.h"
#include "common/code/jit_names.h"
#include "common/code/module.h"
#include "common/tree/summary.h"
#include "common/tree/tree_copy.h"
#include "daemon/ingest/registry.h"
#include "tests/check.h"

#define CONTEXTS 3000

static const struct mcct_params params = {.epsilon = 0.001};

/* ---- processes of known content ---- */

/* This program, as a process of that user has it. */
static uint32_t module_of(struct frame_user *user) {
    struct module_info info;
    CHECK(module_get(module_intern_path("/proc/self/exe"), &info));
    return module_intern(&(struct module_mapping){.uid = frame_uid(user),
                                                  .path = info.path,
                                                  .build_id = info.build_id,
                                                  .build_id_len = info.build_id_len});
}

static uint32_t frame_of(struct frame_user *user, unsigned n) {
    static struct frame_user *last;
    static uint32_t module;
    if (user != last)
        module = module_of(user);
    last = user;
    struct frame_key key = {.routine_module = module, .site_module = module};
    key.routine = 0x1000 + 16 * (n % 50);
    key.site = 0x2000 + n;
    if (n % 7 == 0) {
        key.routine_module = MODULE_JIT;
        key.routine = jit_name_intern_for(user, "generated");
    }
    return frame_intern_for(user, &key);
}

/* More contexts than are monitored, so that there are errors. */
static void feed(struct mcct *tree, struct frame_user *user, unsigned contexts) {
    struct mcct_cursor cursor;
    mcct_cursor_open(tree, &cursor);
    for (unsigned i = 0; i < contexts; i++) {
        unsigned depth = 1 + i % 7;
        for (unsigned d = 0; d < depth; d++)
            mcct_push(&cursor, frame_of(user, d + i % 1500));
        mcct_credit(&cursor, i % 1500 < 20 ? 50000 : 1 + i % 1000);
        mcct_pop(&cursor, depth);
    }
    mcct_cursor_close(&cursor);
}

static struct process *make(pid_t pid, unsigned contexts) {
    struct process like = {
        .pid = pid,
        .uid = 1000 + (uid_t)pid,
        .identity = {.start_ticks = 77, .exe_device = 5, .exe_inode = 1ull << 40},
        .exe = strdup("/usr/bin/some program"),
        .command = pid % 2 == 0 ? strdup("its\nlink") : NULL,
        .since_ns = 1700000000000000000u,
        .since_mono_ns = 1000,
        .ended_mono_ns = 5001000,
        .sampling = {.rate = 250, .clock = WIRE_CLOCK_WALL, .every = 1},
        .runs = 3,
        .tree = mcct_new(&params),
        .frames = frame_user(1000 + (uid_t)pid),
        .ended = {.cpu_ns = 123456789012u, .threads = 9, .off = true, .gap_ns = 17, .restarts = 2},
    };
    like.ended.counter[WIRE_WALKS] = 4242;
    like.ended.counter[WIRE_COUNTERS - 1] = UINT64_MAX;
    like.ended.deferred.refused = 8;
    feed(like.tree, like.frames, contexts);
    return process_new_finished(&like);
}

static bool same_tree(const struct mcct *a, const struct mcct *b) {
    struct tree_copy x, y;
    CHECK(tree_copy_take(&x, a) && tree_copy_take(&y, b));
    bool same = x.n == y.n && x.stats.total == y.stats.total && x.stats.unseen == y.stats.unseen &&
                x.stats.monitored == y.stats.monitored && x.stats.updates == y.stats.updates;
    for (size_t i = 0; i < x.n && same; i++)
        same = x.node[i].parent == y.node[i].parent && x.node[i].frame == y.node[i].frame &&
               x.node[i].count == y.node[i].count && x.node[i].error == y.node[i].error &&
               x.node[i].residual == y.node[i].residual;
    tree_copy_free(&x);
    tree_copy_free(&y);
    return same;
}

static uint64_t residuals(const struct mcct *tree) {
    struct tree_copy copy;
    uint64_t n = 0;
    CHECK(tree_copy_take(&copy, tree));
    for (size_t i = 0; i < copy.n; i++)
        n += copy.node[i].residual;
    tree_copy_free(&copy);
    return n;
}

/* What is certain of contexts, and all residuals. */
static uint64_t placed(const struct mcct *tree) {
    struct tree_copy copy;
    uint64_t sum = 0;
    CHECK(tree_copy_take(&copy, tree));
    for (size_t i = 0; i < copy.n; i++)
        sum += copy.node[i].count - copy.node[i].error;
    tree_copy_free(&copy);
    return sum;
}

static void check_process(const struct process *got, const struct process *want) {
    CHECK_UINT(got->pid, want->pid);
    CHECK_UINT(got->uid, want->uid);
    CHECK_STR(got->exe, want->exe);
    CHECK_STR(process_command(got), want->pid % 2 == 0 ? "its\nlink" : "some program");
    CHECK(identity_same(&got->identity, &want->identity));
    CHECK_UINT(got->since_ns, want->since_ns);
    CHECK_UINT(got->ended_mono_ns - got->since_mono_ns, 5000000);
    CHECK_UINT(got->sampling.clock, WIRE_CLOCK_WALL);
    CHECK_UINT(got->runs, want->runs);
    CHECK(memcmp(&got->ended, &want->ended, sizeof got->ended) == 0);
    CHECK(!got->live && !got->waiting);
    CHECK(same_tree(got->tree, want->tree));
}

/* ---- whole files ---- */

static char path[] = "/tmp/hcct-checkpoint-XXXXXX";

static void free_list(struct process **list, size_t n) {
    for (size_t i = 0; i < n; i++)
        process_free(list[i]);
    free(list);
}

static void test_round_trip(struct process *const *want, size_t n_want) {
    struct process **list;
    size_t n;
    CHECK(checkpoint_save(path));
    CHECK(checkpoint_load(path, &params, &list, &n) == NULL);
    CHECK_UINT(n, n_want);
    for (size_t i = 0; i < n && i < n_want; i++)
        check_process(list[i], want[i]);
    free_list(list, n);
}

/* In less room, and in another summary: bounds are what stays. */
static void test_other_summaries(const struct process *want) {
    static const char *const kinds[] = {"filtered-space-saving", "space-saving",
                                        "space-saving-list", "lossy-counting", "exact"};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const struct mcct_params other = {.summary = summary_find(kinds[k]), .epsilon = 0.01};
        struct process **list;
        struct mcct_stats was, is;
        size_t n;
        CHECK(checkpoint_load(path, &other, &list, &n) == NULL && n > 0);
        mcct_stats(want->tree, &was);
        mcct_stats(list[0]->tree, &is);
        CHECK_UINT(is.total, was.total);
        CHECK(is.unseen >= was.unseen);
        CHECK(is.capacity == 0 || is.monitored <= is.capacity);
        CHECK(is.monitored > 0);
        CHECK_UINT(placed(list[0]->tree), placed(want->tree)); /* what had to go is a residual */
        free_list(list, n);
    }
}

/* ---- damage ---- */

static char *content;
static size_t length;

static void read_all(void) {
    FILE *f = fopen(path, "r");
    content = malloc(1u << 22);
    length = f != NULL && content != NULL ? fread(content, 1, 1u << 22, f) : 0;
    if (f != NULL)
        fclose(f);
    CHECK(length > 1000 && length < 1u << 22);
}

static bool is_refused(const char *bytes, size_t n) {
    struct process **list;
    size_t n_list;
    FILE *f = fopen(path, "w");
    bool written = f != NULL && fwrite(bytes, 1, n, f) == n;
    if (f != NULL)
        fclose(f);
    CHECK(written);
    bool refused = checkpoint_load(path, &params, &list, &n_list) != NULL;
    CHECK(!refused || (n_list == 0 && list == NULL));
    free_list(list, n_list);
    return refused;
}

static void test_damage(void) {
    unsigned accepted = 0;
    for (size_t n = 0; n < length; n += 1 + length / 200)
        accepted += !is_refused(content, n);
    for (size_t at = 0; at < length; at += at < 600 ? 1 : length / 300) {
        content[at] ^= (char)(1 + at % 255);
        accepted += !is_refused(content, length);
        content[at] ^= (char)(1 + at % 255);
    }
    CHECK_UINT(accepted, 0);
}

/* The same content, as a version before this one wrote it. */
static void test_version(uint32_t version, bool good) {
    const size_t end = length - 8; /* a record of one word */
    uint32_t crc;
    memcpy(content + 8, &version, sizeof version);
    crc = (uint32_t)crc32(0, (const Bytef *)content, (uInt)end);
    memcpy(content + end + 4, &crc, sizeof crc);
    CHECK(is_refused(content, length) == !good);
}

/* Files whose checksum is right and whose content can't be. */
static const char *load_records(uint32_t kind, const uint32_t *words, size_t n) {
    static struct checkpoint_file out;
    static const char about[] = "exe\0/bin/x\0pid\0"
                                "7\0runs\0"
                                "1\0\0\0\0";
    uint32_t filled[8] = {0};
    struct process **list;
    size_t n_list;
    memcpy(filled, about, sizeof about);
    CHECK(checkpoint_file_create(&out, path));
    checkpoint_file_put(&out, CHECKPOINT_PROCESS, filled, 8);
    if (n > 0)
        checkpoint_file_put(&out, kind, words, n);
    CHECK(checkpoint_file_finish(&out));
    const char *wrong = checkpoint_load(path, &params, &list, &n_list);
    free_list(list, n_list);
    return wrong;
}

static void test_nonsense(void) {
    const uint32_t far_up[] = {5, 1, 1, 0, 0, 0}, no_frame[] = {0, 99, 1, 0, 0, 0};
    const uint32_t error_above[] = {0, 1, 1, 0, 2, 0}, odd[] = {0, 1, 1};
    const uint32_t twice[] = {0, 1, 1, 0, 0, 0, 1, 1, 9, 0, 0, 0};
    const uint32_t rest[] = {CHECKPOINT_RESIDUAL, 1, 1, 0, 0, 0,
                             CHECKPOINT_RESIDUAL, 0, 1, 0, 0, 0};
    const uint32_t rest_of_none[] = {CHECKPOINT_RESIDUAL, 99, 1, 0, 0, 0};
    CHECK(load_records(CHECKPOINT_NODES, rest, 12) == NULL);
    CHECK(load_records(CHECKPOINT_NODES, rest_of_none, 6) != NULL);
    CHECK(load_records(CHECKPOINT_NODES, NULL, 0) == NULL);   /* the frame of all these is right */
    CHECK(load_records(CHECKPOINT_NODES, twice, 12) == NULL); /* covered by `unseen` */
    CHECK(load_records(CHECKPOINT_NODES, far_up, 6) != NULL);
    CHECK(load_records(CHECKPOINT_NODES, no_frame, 6) != NULL);
    CHECK(load_records(CHECKPOINT_NODES, error_above, 6) != NULL);
    CHECK(load_records(CHECKPOINT_NODES, odd, 3) != NULL);
    CHECK(load_records(CHECKPOINT_PROCESS, odd, 3) != NULL);
    CHECK(load_records(TRACE_FRAME, odd, 3) != NULL);
    CHECK(load_records(99, odd, 3) != NULL);
}

int main(void) {
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    struct process *const processes[] = {make(41, CONTEXTS), make(42, 3), make(0, 0)};
    const size_t n = sizeof processes / sizeof processes[0];
    for (size_t i = 0; i < n; i++) {
        CHECK(processes[i] != NULL);
        registry_add(processes[i]);
    }
    CHECK(residuals(processes[0]->tree) > 0);
    CHECK_UINT(residuals(processes[2]->tree), 0);
    test_round_trip(processes, n);
    test_other_summaries(processes[0]);
    read_all();
    test_damage();
    test_version(1, true);
    test_version(0, false);
    test_version(CHECKPOINT_VERSION + 1, false);
    test_version(CHECKPOINT_VERSION, true);
    test_nonsense();
    registry_clear();
    free(content);
    unlink(path);
    return check_report();
}
