/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * module.c - ELF objects by what they are: a registry with a hash table of identities.
 *
 * A module has a place; its id is that, and how often the place has been taken before. So an id
 * that is kept for too long is found to be nobody's.
 */
#include "common/code/module.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/intern.h"
#include "common/code/build_id.h"
#include "common/code/module_open.h"
#include "common/code/module_protected.h"

#define TURNS           (UINT32_MAX / MODULE_PLACES) /* of a place: MODULE_JIT is in none of them */
#define FILES_USER_PART 4     /* one user may have one in so many of the files */
#define SWEEP_FIRST     1024u /* so many modules are worth a sweep */
#define FULL_SWEEP_S    10    /* between sweeps for whom is at the limit */

/* What distinguishes modules: the build-id where there is one, among those that are protected, or
 * among those of one user. */
struct identity {
    bool is_protected; /* everybody's */
    uid_t uid;         /* else whose */
    uint8_t build_id[MODULE_BUILD_ID_MAX];
    uint8_t build_id_len;
    bool is_vdso;
    bool has_file; /* the following are known */
    uint64_t device, inode, bytes;
    int64_t changed_s, changed_ns;
};

/* What a user has beside what is everybody's; the first is that. */
struct share {
    struct share *next;
    uid_t uid;
    uint32_t modules, files, sweep_at;
    uint64_t refused;
    bool due;
};

struct module {
    struct identity identity;
    char *path;
    int fd;
    uint32_t id;
    struct share *share, *file_share; /* whose it is; whose its descriptor, if it has one */
    uint32_t holds;
    bool marked; /* by the sweep under way */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct module *modules[MODULE_PLACES]; /* by place */
static uint32_t turns[MODULE_PLACES];         /* how often the place was taken */
static uint32_t free_place[MODULE_PLACES], n_free, n_places, n_modules;
static struct intern by_identity; /* places */
static unsigned files_open, files_max;
static struct share everybody = {.uid = MODULE_NOBODY, .sweep_at = SWEEP_FIRST};
static void (*want_sweep)(uid_t uid);
static time_t swept_s;

_Static_assert(TURNS <= UINT32_MAX / MODULE_PLACES && MODULE_JIT == UINT32_MAX, "ids fit");

/* The module of an id; NULL: none. */
static struct module *find_module(uint32_t id) {
    struct module *module = modules[module_place(id)];
    return module != NULL && module->id == id ? module : NULL;
}

/* An identity, and the path that goes with it. */
struct key {
    const struct identity *identity;
    const char *path;
};

static uint64_t hash(const struct key *key) {
    const struct identity *identity = key->identity;
    if (identity->is_vdso)
        return 0;
    if (identity->build_id_len > 0)
        return seeded_hash_bytes(0, identity->build_id, identity->build_id_len);
    return seeded_hash_bytes(identity->inode, key->path, strlen(key->path));
}

static bool same_file(const struct identity *a, const struct identity *b) {
    return a->has_file == b->has_file && a->device == b->device && a->inode == b->inode &&
           a->bytes == b->bytes && a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

static bool same_owner(const struct identity *a, const struct identity *b) {
    return a->is_protected == b->is_protected && (a->is_protected || a->uid == b->uid);
}

static bool same_module(const struct module *module, const struct identity *identity,
                        const char *path) {
    const struct identity *own = &module->identity;
    if (own->is_vdso || identity->is_vdso)
        return own->is_vdso == identity->is_vdso;
    bool owned = same_owner(own, identity), same_path = strcmp(module->path, path) == 0;
    if (own->build_id_len > 0 || identity->build_id_len > 0)
        return owned && own->build_id_len == identity->build_id_len &&
               memcmp(own->build_id, identity->build_id, own->build_id_len) == 0 &&
               (same_path || own->is_protected || own->uid != MODULE_NOBODY); /* several users' */
    return (owned || own->has_file) && same_file(own, identity) && same_path;
}

static bool is_module(const void *none, uint32_t place, const void *key) {
    const struct key *wanted = key;
    (void)none;
    return same_module(modules[place], wanted->identity, wanted->path);
}

/* 0: there is none. */
static uint32_t find_place(const struct identity *identity, const char *path) {
    const struct key key = {identity, path};
    return intern_get(&by_identity, hash(&key), is_module, NULL, &key);
}

/* Fills in what a file says of itself, and whether it is believed. A build-id of the mapping has
 * been compared with the file's when that was opened. */
static void identify(struct identity *identity, int fd, pid_t pid, const char *path) {
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        return;
    identity->has_file = true;
    identity->device = info.st_dev;
    identity->inode = info.st_ino;
    identity->bytes = (uint64_t)info.st_size;
    identity->changed_s = info.st_mtim.tv_sec;
    identity->changed_ns = info.st_mtim.tv_nsec;
    if (identity->build_id_len == 0)
        identity->build_id_len =
            (uint8_t)build_id_read(fd, identity->build_id, sizeof identity->build_id);
    identity->is_protected = identity->is_vdso || module_is_protected(fd, pid, path);
}

/* NULL: no memory. */
static struct share *share_of(const struct identity *identity) {
    struct share *share = identity->is_protected ? &everybody : everybody.next;
    while (share != NULL && !identity->is_protected && share->uid != identity->uid)
        share = share->next;
    if (share == NULL && (share = calloc(1, sizeof *share)) != NULL) {
        share->uid = identity->uid;
        share->sweep_at = SWEEP_FIRST;
        share->next = everybody.next;
        everybody.next = share;
    }
    return share;
}

static bool is_limited(const struct share *share) {
    return share != &everybody && share->uid != geteuid();
}

/* How many modules there may be of one share. */
static uint32_t limit_of(const struct share *share) {
    return is_limited(share) ? MODULES_USER_MAX : MODULES_MAX;
}

static bool has_room(const struct share *share) {
    return n_modules < MODULES_MAX && share->modules < limit_of(share);
}

static bool has_room_for_file(const struct share *share) {
    unsigned max = is_limited(share) ? files_max / FILES_USER_PART : files_max;
    return files_open < files_max && share->files < max;
}

/* Enough has come since the last sweep, or there is no room and time has passed. */
static void look_for_crowd(struct share *share) {
    bool crowded = has_room(share) ? share->modules >= share->sweep_at
                                   : clock_seconds() - swept_s >= FULL_SWEEP_S;
    if (!crowded || want_sweep == NULL)
        return;
    share->due = true;
    want_sweep(share->uid);
}

static unsigned count_files_allowed(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 2 > MODULE_FILES_MAX)
        return MODULE_FILES_MAX;
    return (unsigned)limit.rlim_cur / 2;
}

/* Takes the descriptor over, or closes it when there are enough. */
static void keep_file(struct module *module, int fd) {
    if (files_max == 0)
        files_max = count_files_allowed();
    if (fd >= 0 && module->fd < 0 && has_room_for_file(module->share)) {
        module->fd = fd;
        module->file_share = module->share;
        module->file_share->files++;
        files_open++;
    } else if (fd >= 0) {
        close(fd);
    }
}

static uint32_t take_place(void) {
    return n_free > 0 ? free_place[--n_free] : ++n_places;
}

/* NULL: no memory. The path is copied. */
static struct module *new_module(const struct identity *identity, const char *path) {
    const struct key key = {identity, path};
    struct module *module = malloc(sizeof *module);
    char *copy = strdup(path);
    uint32_t *number = module != NULL && copy != NULL
                           ? intern_try(&by_identity, hash(&key), is_module, NULL, &key)
                           : NULL;
    if (number == NULL) {
        free(module);
        free(copy);
        return NULL;
    }
    uint32_t place = take_place();
    *module = (struct module){
        .identity = *identity,
        .path = copy,
        .fd = -1,
        .id = turns[place]++ % TURNS * MODULE_PLACES + place,
    };
    modules[place] = module;
    *number = place;
    n_modules++;
    return module;
}

/* NULL: no room, or no memory. */
static struct module *add_module(const struct identity *identity, const char *path) {
    struct share *share = share_of(identity);
    if (share == NULL)
        return NULL;
    bool room = has_room(share);
    struct module *module = room ? new_module(identity, path) : NULL;
    share->refused += !room;
    if (module != NULL) {
        module->share = share;
        share->modules++;
    }
    look_for_crowd(share);
    return module;
}

/* The id of an identity; takes `fd` (which may be -1) over. */
static uint32_t intern(const struct identity *identity, const char *path, int fd) {
    pthread_mutex_lock(&lock);
    uint32_t place = find_place(identity, path);
    struct module *module = place != 0 ? modules[place] : add_module(identity, path);
    uint32_t id = module != NULL ? module->id : 0;
    if (module != NULL) {
        if (!module->identity.has_file && identity->has_file)
            module->identity = *identity;
        module->marked = true;
        keep_file(module, fd);
    } else if (fd >= 0) {
        close(fd);
    }
    pthread_mutex_unlock(&lock);
    return id;
}

/* The id of a module that has its file already: nearly always, and then nothing is opened. The
 * identity is what a process says: if that is not true of its file, what everybody's module has is
 * shown of that process alone. */
static uint32_t find_complete(struct identity identity) {
    pthread_mutex_lock(&lock);
    identity.is_protected = true;
    uint32_t place = find_place(&identity, ""), id = 0;
    identity.is_protected = false;
    if (place == 0)
        place = find_place(&identity, "");
    if (place != 0 && modules[place]->identity.has_file) {
        modules[place]->marked = true;
        id = modules[place]->id;
    }
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t module_intern(const struct module_mapping *mapping) {
    struct identity identity = {.is_vdso = mapping->is_vdso, .uid = mapping->uid};
    char path[PATH_MAX] = "[vdso]";
    if (!mapping->is_vdso && mapping->build_id_len > 0 &&
        mapping->build_id_len <= MODULE_BUILD_ID_MAX) {
        identity.build_id_len = mapping->build_id_len;
        memcpy(identity.build_id, mapping->build_id, mapping->build_id_len);
    }
    if (identity.is_vdso || (identity.build_id_len > 0 && identity.uid != MODULE_NOBODY)) {
        uint32_t id = find_complete(identity);
        if (id != 0)
            return id;
    }
    int fd = mapping->is_vdso ? module_open_vdso() : module_open_mapping(mapping, path);
    identify(&identity, fd, mapping->pid, path);
    return intern(&identity, path, fd);
}

uint32_t module_intern_path(const char *path) {
    struct identity identity = {.uid = geteuid()};
    int fd = module_open_path(path);
    identify(&identity, fd, 0, path);
    return intern(&identity, path, fd);
}

/* A copy for use without the lock, whose path is the caller's to free. False: there is no such
 * module, or no memory. */
static bool copy_module(uint32_t id, struct module *copy) {
    pthread_mutex_lock(&lock);
    const struct module *module = find_module(id);
    if (module != NULL) {
        *copy = *module;
        copy->path = strdup(module->path);
    }
    pthread_mutex_unlock(&lock);
    return module != NULL && copy->path != NULL;
}

uint32_t module_adopt(uint32_t id, uid_t uid) {
    struct module copy;
    if (!copy_module(id, &copy))
        return id;
    if (!copy.identity.is_protected && copy.identity.uid == MODULE_NOBODY) {
        copy.identity.uid = uid;
        id = intern(&copy.identity, copy.path, module_open_file(id));
    }
    free(copy.path);
    return id;
}

bool module_get(uint32_t id, struct module_info *info) {
    pthread_mutex_lock(&lock);
    const struct module *module = find_module(id);
    if (module != NULL) {
        *info = (struct module_info){
            .path = module->path,
            .build_id_len = module->identity.build_id_len,
            .is_protected = module->identity.is_protected,
            .uid = module->identity.is_protected ? MODULE_NOBODY : module->identity.uid,
            .is_vdso = module->identity.is_vdso,
            .fd = module->fd,
        };
        memcpy(info->build_id, module->identity.build_id, sizeof info->build_id);
    }
    pthread_mutex_unlock(&lock);
    return module != NULL;
}

char *module_copy_path(uint32_t id) {
    struct module copy;
    return copy_module(id, &copy) ? copy.path : NULL;
}

/* A module's file that is not kept open, when it is still the same file. */
static int open_again(const struct module *module) {
    struct identity now = {.uid = module->identity.uid};
    int fd = module->identity.has_file ? module_open_path(module->path) : -1;
    identify(&now, fd, 0, module->path);
    if (!module->identity.is_protected)
        now.is_protected =
            false; /* of a file that is protected now, what the user's says is true */
    if (fd >= 0 && !same_module(module, &now, module->path)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* One that has no file is what everybody's module of that build-id is, if there is one. */
static const struct module *find_file(const struct module *module) {
    struct identity everybodys = module->identity;
    everybodys.is_protected = true;
    uint32_t other = everybodys.build_id_len > 0 ? find_place(&everybodys, "") : 0;
    return !module->identity.has_file && other != 0 ? modules[other] : module;
}

int module_open_file(uint32_t id) {
    struct module copy = {.path = NULL};
    int fd = -1;
    pthread_mutex_lock(&lock);
    const struct module *module = find_module(id);
    if (module != NULL) {
        module = find_file(module);
        copy = *module;
        copy.path = module->fd < 0 ? strdup(module->path) : NULL;
        fd = module->fd < 0 ? -1 : fcntl(module->fd, F_DUPFD_CLOEXEC, 0);
    }
    pthread_mutex_unlock(&lock);
    if (copy.path != NULL)
        fd = open_again(&copy);
    free(copy.path);
    return fd;
}

/* ---- giving back ---- */

uint32_t *module_hold(const uint32_t *ids, size_t n) {
    uint32_t *held = malloc((n + 1) * sizeof *held);
    if (held == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n; i++) {
        struct module *module = find_module(ids[i]);
        held[i] = module != NULL ? ids[i] : 0;
        if (module != NULL)
            module->holds++;
    }
    pthread_mutex_unlock(&lock);
    return held;
}

void module_drop(uint32_t *held, size_t n) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; held != NULL && i < n; i++) {
        struct module *module = find_module(held[i]);
        if (module != NULL)
            module->holds--;
    }
    pthread_mutex_unlock(&lock);
    free(held);
}

void module_set_sweeper(void (*want)(uid_t uid)) {
    pthread_mutex_lock(&lock);
    want_sweep = want;
    pthread_mutex_unlock(&lock);
}

bool module_sweep_is_due(void) {
    bool due = false;
    pthread_mutex_lock(&lock);
    for (const struct share *share = &everybody; share != NULL; share = share->next)
        due |= share->due;
    pthread_mutex_unlock(&lock);
    return due;
}

void module_sweep_begin(void) {
    pthread_mutex_lock(&lock);
    for (uint32_t place = 1; place <= n_places; place++)
        if (modules[place] != NULL)
            modules[place]->marked = false;
    pthread_mutex_unlock(&lock);
}

void module_mark(uint32_t id) {
    pthread_mutex_lock(&lock);
    struct module *module = find_module(id);
    if (module != NULL)
        module->marked = true;
    pthread_mutex_unlock(&lock);
}

static void give_back(struct module *module) {
    uint32_t place = module_place(module->id);
    if (module->fd >= 0) {
        close(module->fd);
        module->file_share->files--;
        files_open--;
    }
    module->share->modules--;
    n_modules--;
    modules[place] = NULL;
    free_place[n_free++] = place;
    free(module->path);
    free(module);
}

static bool is_in_use(const void *none, uint32_t place) {
    (void)none;
    return modules[place]->marked || modules[place]->holds > 0;
}

static uint32_t next_sweep_at(const struct share *share) {
    uint32_t n = share->modules, limit = limit_of(share), at = n + (limit - n) / 2;
    at = at < 2 * n ? at : 2 * n;
    return at > SWEEP_FIRST ? at : SWEEP_FIRST;
}

void module_sweep_end(bool whole) {
    pthread_mutex_lock(&lock);
    whole = whole && intern_keep(&by_identity, is_in_use, NULL);
    for (uint32_t place = 1; whole && place <= n_places; place++)
        if (modules[place] != NULL && !is_in_use(NULL, place))
            give_back(modules[place]);
    for (struct share *share = &everybody; share != NULL; share = share->next) {
        share->sweep_at = next_sweep_at(share);
        share->due = false;
    }
    swept_s = clock_seconds();
    pthread_mutex_unlock(&lock);
}

void module_usage_all(void (*visit)(void *arg, const struct module_usage *usage), void *arg) {
    pthread_mutex_lock(&lock);
    for (const struct share *share = &everybody; share != NULL; share = share->next) {
        const struct module_usage usage = {share->uid, share->modules, share->files,
                                           share->refused};
        visit(arg, &usage);
    }
    pthread_mutex_unlock(&lock);
}
