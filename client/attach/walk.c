/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * walk.c - the unwinder of raw stack samples, for a thread that is stopped.
 */
#include "client/attach/walk.h"

#include <libelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/attach/image.h"
#include "common/code/module_open.h"
#include "common/code/remote_unwind.h"
#include "common/wire/arch.h"

#define STACK_BYTES 262144u
#define ROUNDS_MOST 16u /* files that are asked for, one after the other */

/* Code that is mapped; its number is its place in the list, plus one, however the mappings change.
 */
struct walk_code {
    uint64_t start, end, bias;
    char *path;
};

struct walk {
    const struct target *target;
    walk_open *opens;
    void *context;
    struct remote_unwinder *unwinder;
    struct raw_stack *stack;
    struct walk_code *known;
    uint32_t n_known;
    uint32_t missing; /* number of the code whose file is needed; 0: none */
};

static bool is_own(pid_t pid) {
    uint64_t user;
    return target_status(pid, 0, "Uid", false, &user) && user == geteuid();
}

struct walk *walk_new(const struct target *target, walk_open *opens, void *context) {
    bool can = is_own(target->pid) && elf_version(EV_CURRENT) != EV_NONE;
    struct walk *walk = can ? calloc(1, sizeof *walk) : NULL;
    if (walk == NULL)
        return NULL;
    walk->target = target;
    walk->opens = opens;
    walk->context = context;
    walk->unwinder = remote_unwinder_new();
    if (walk->unwinder != NULL)
        return walk;
    free(walk);
    return NULL;
}

void walk_free(struct walk *walk) {
    if (walk == NULL)
        return;
    remote_unwinder_free(walk->unwinder);
    for (uint32_t i = 0; i < walk->n_known; i++)
        free(walk->known[i].path);
    free(walk->known);
    free(walk->stack);
    free(walk);
}

/* ---- what is walked ---- */

/* The first mapping of the file that this one is of, and its bias. */
static bool find_bias(const struct target *target, size_t i, uint64_t *bias) {
    const char *path = target->maps[i].path;
    for (size_t first = i + 1; first-- > 0;)
        if (target->maps[first].offset == 0 && strcmp(target->maps[first].path, path) == 0)
            return image_bias(target, target->maps[first].start, bias);
    return false;
}

static struct walk_code *find_known(const struct walk *walk, const struct target_map *map) {
    for (uint32_t i = 0; i < walk->n_known; i++)
        if (walk->known[i].start == map->start && strcmp(walk->known[i].path, map->path) == 0)
            return &walk->known[i];
    return NULL;
}

static void learn_code(struct walk *walk, size_t i) {
    const struct target_map *map = &walk->target->maps[i];
    struct walk_code code = {map->start, map->end, 0, NULL};
    if (!map->executable || map->path[0] == '\0' || find_known(walk, map) != NULL ||
        !find_bias(walk->target, i, &code.bias))
        return;
    struct walk_code *more = realloc(walk->known, (walk->n_known + 1) * sizeof *more);
    if (more == NULL)
        return;
    walk->known = more;
    code.path = strdup(map->path);
    if (code.path != NULL)
        walk->known[walk->n_known++] = code;
}

void walk_prepare(struct walk *walk) {
    for (size_t i = 0; i < walk->target->n_maps; i++)
        learn_code(walk, i);
}

static uint32_t fill_ranges(const struct walk *walk, struct code_range *range) {
    uint32_t n = 0;
    for (size_t i = 0; i < walk->target->n_maps; i++) {
        const struct target_map *map = &walk->target->maps[i];
        const struct walk_code *code = map->executable ? find_known(walk, map) : NULL;
        if (code != NULL)
            range[n++] = (struct code_range){code->start, code->end, code->bias,
                                             (uint32_t)(code - walk->known) + 1, 0};
    }
    return n;
}

static void fill_registers(const struct user_regs_struct *regs, uint64_t *by_number) {
    const uint64_t values[ARCH_REGS] = {
        regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi, regs->rbp, regs->rsp,
        regs->r8,  regs->r9,  regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15};
    memcpy(by_number, values, sizeof values);
}

/* Its sizes stand in it before what they are of. */
static bool take_copy(struct walk *walk, const struct user_regs_struct *regs) {
    const struct target *target = walk->target;
    const struct target_map *map = target_map_at(target, regs->rsp);
    if (map == NULL || (regs->rsp & 7) != 0)
        return false;
    uint64_t bytes = map->end - regs->rsp < STACK_BYTES ? map->end - regs->rsp : STACK_BYTES;
    struct code_range *ranges = malloc(target->n_maps * sizeof *ranges);
    struct raw_stack sizes = {.pc = regs->rip,
                              .at = regs->rip,
                              .known = (1ull << ARCH_REGS) - 1,
                              .n_registers = ARCH_REGS,
                              .n_words = (uint32_t)(bytes / 8)};
    if (ranges != NULL)
        sizes.n_ranges = fill_ranges(walk, ranges);
    free(walk->stack);
    walk->stack = ranges != NULL ? malloc(raw_stack_bytes(&sizes)) : NULL;
    bool good = walk->stack != NULL;
    if (good) {
        *walk->stack = sizes;
        memcpy(raw_stack_ranges(walk->stack), ranges, sizes.n_ranges * sizeof *ranges);
        fill_registers(regs, raw_stack_registers(walk->stack));
        good = target_read(target, regs->rsp, raw_stack_words(walk->stack), 8ull * sizes.n_words);
    }
    free(ranges);
    return good;
}

#define WAITS_REACH 256 /* from the beginning of that function of the agent's */

/* The next one's return address says where it is in the function in whose middle threads wait. */
static bool is_locked(const struct code *code, size_t ranges, const struct unwound_frame *frame) {
    if (code_is_locked(code, ranges, frame->site))
        return true;
    bool waits = frame->routine <= code->waits && code->waits - frame->routine < WAITS_REACH;
    return !waits && code_is_locked(code, ranges, frame->routine);
}

enum walked walk_stack(struct walk *walk, const struct code *code, size_t ranges,
                       const struct user_regs_struct *regs) {
    static struct unwound_frame frames[RAW_STACK_FRAMES_MAX];
    struct unwound_stack found = {0};
    if (!take_copy(walk, regs))
        return WALKED_LOCKED;
    walk->missing = remote_unwind(walk->unwinder, walk->stack, frames, &found);
    if (walk->missing != 0)
        return WALKED_MISSING;
    for (uint32_t i = 0; i < found.n; i++)
        if (is_locked(code, ranges, &frames[i]))
            return WALKED_LOCKED;
    return found.mark == 0 ? WALKED_CLEAR : WALKED_LOCKED;
}

/* ---- files ---- */

int walk_open_here(void *context, const struct target *target, uint64_t start) {
    const struct target_map *map = target_map_at(target, start);
    char path[PATH_MAX];
    (void)context;
    if (map == NULL || !map->executable || map->path[0] == '\0')
        return -1;
    const struct module_mapping mapping = {.pid = target->pid,
                                           .uid = geteuid(),
                                           .start = map->start,
                                           .end = map->end,
                                           .path = map->path};
    return module_open_mapping(&mapping, path);
}

static int open_file(const struct walk *walk) {
    const struct walk_code *code = &walk->known[walk->missing - 1];
    return strcmp(code->path, "[vdso]") == 0
               ? module_open_vdso()
               : walk->opens(walk->context, walk->target, code->start);
}

/* What the walk of the copy comes to: mostly all that the next one needs. */
void walk_learn(struct walk *walk) {
    static struct unwound_frame frames[RAW_STACK_FRAMES_MAX];
    struct unwound_stack found = {0};
    for (unsigned i = 0; i < ROUNDS_MOST && walk->missing != 0; i++) {
        int fd = open_file(walk);
        struct unwind_image *image = fd >= 0 ? unwind_image_open(fd) : NULL;
        if (image == NULL)
            return;
        remote_unwinder_keep(walk->unwinder, walk->missing, image);
        walk->missing = remote_unwind(walk->unwinder, walk->stack, frames, &found);
    }
}
