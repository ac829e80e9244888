/*
 * module.c - ELF objects by what they are: a registry with a hash table of identities.
 */
#include "common/code/module.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/seeded_hash.h"
#include "common/code/build_id.h"
#include "common/code/module_open.h"
#include "common/code/module_trust.h"

#define INDEX_SLOTS (2 * MODULES_MAX)

/* What tells modules apart: the build-id where there is one, among those of equal trust. */
struct identity {
    bool is_trusted; /* everybody's */
    uid_t uid;       /* else whose */
    uint8_t build_id[MODULE_BUILD_ID_MAX];
    uint8_t build_id_len;
    bool is_vdso;
    bool has_file; /* the following are known */
    uint64_t device, inode, bytes;
    int64_t changed_s, changed_ns;
};

struct module {
    struct identity identity;
    const char *path;
    int fd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct module *modules[MODULES_MAX + 1]; /* by id */
static uint32_t n_modules;
static uint32_t slots[INDEX_SLOTS]; /* ids by hash of the identity; 0 is free */
static unsigned files_open, files_max;

/* What a user has beside what is everybody's. */
static struct share {
    struct share *next;
    uid_t uid;
    unsigned modules, files;
} * shares;

static uint32_t first_slot(const struct identity *identity, const char *path) {
    if (identity->is_vdso)
        return 0;
    uint64_t hash = identity->build_id_len > 0
                        ? seeded_hash(identity->build_id, identity->build_id_len)
                        : seeded_hash(path, strlen(path)) ^
                              seeded_hash(&identity->inode, sizeof(identity->inode));
    return (uint32_t)hash % INDEX_SLOTS;
}

static bool same_file(const struct identity *a, const struct identity *b) {
    return a->has_file == b->has_file && a->device == b->device && a->inode == b->inode &&
           a->bytes == b->bytes && a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

static bool same_owner(const struct identity *a, const struct identity *b) {
    return a->is_trusted == b->is_trusted && (a->is_trusted || a->uid == b->uid);
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
               (same_path || own->is_trusted || own->uid != MODULE_NOBODY); /* several users' */
    return (owned || own->has_file) && same_file(own, identity) && same_path;
}

/* The slot of an identity, or the free one where it belongs. */
static uint32_t *find_slot(const struct identity *identity, const char *path) {
    uint32_t slot = first_slot(identity, path);
    while (slots[slot] != 0 && !same_module(modules[slots[slot]], identity, path))
        slot = (slot + 1) % INDEX_SLOTS;
    return &slots[slot];
}

/* Fills in what a file says of itself, and whether it is believed. A build-id of the mapping has
 * been held against the file's when that was opened. */
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
            (uint8_t)build_id_read(fd, identity->build_id, sizeof(identity->build_id));
    identity->is_trusted = identity->is_vdso || module_is_trusted(fd, pid, path);
}

/* NULL: no memory. */
static struct share *share_of(uid_t uid) {
    struct share *share = shares;
    while (share != NULL && share->uid != uid)
        share = share->next;
    if (share == NULL && (share = calloc(1, sizeof(*share))) != NULL) {
        share->uid = uid;
        share->next = shares;
        shares = share;
    }
    return share;
}

/* Counts one more of the user's; nothing is counted of what is everybody's. False: it is one too
 * many. */
static bool take_share(const struct identity *identity, bool file) {
    struct share *share = identity->is_trusted ? NULL : share_of(identity->uid);
    if (share == NULL)
        return identity->is_trusted;
    unsigned *n = file ? &share->files : &share->modules;
    unsigned max = file ? files_max * MODULES_USER_MAX / MODULES_MAX : MODULES_USER_MAX;
    bool room = *n < max || identity->uid == geteuid();
    *n += room;
    return room;
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
    if (fd >= 0 && module->fd < 0 && files_open < files_max &&
        take_share(&module->identity, true)) {
        module->fd = fd;
        files_open++;
    } else if (fd >= 0) {
        close(fd);
    }
}

static struct module *add_module(uint32_t *slot, const struct identity *identity,
                                 const char *path) {
    bool room = n_modules < MODULES_MAX && take_share(identity, false);
    struct module *module = room ? malloc(sizeof(*module)) : NULL;
    char *copy = module != NULL ? strdup(path) : NULL;
    if (copy == NULL) {
        free(module);
        return NULL;
    }
    *module = (struct module){.identity = *identity, .path = copy, .fd = -1};
    modules[++n_modules] = module;
    *slot = n_modules;
    return module;
}

/* The id of an identity; takes `fd` (which may be -1) over. */
static uint32_t intern(const struct identity *identity, const char *path, int fd) {
    pthread_mutex_lock(&lock);
    uint32_t *slot = find_slot(identity, path);
    struct module *module = *slot != 0 ? modules[*slot] : add_module(slot, identity, path);
    uint32_t id = *slot;
    if (module != NULL) {
        if (!module->identity.has_file && identity->has_file)
            module->identity = *identity;
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
    identity.is_trusted = true;
    uint32_t id = *find_slot(&identity, "");
    identity.is_trusted = false;
    if (id == 0)
        id = *find_slot(&identity, "");
    if (id != 0 && !modules[id]->identity.has_file)
        id = 0;
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

uint32_t module_adopt(uint32_t id, uid_t uid) {
    pthread_mutex_lock(&lock);
    bool exists = id >= 1 && id <= n_modules;
    struct module copy = exists ? *modules[id] : (struct module){0};
    pthread_mutex_unlock(&lock);
    if (!exists || copy.identity.is_trusted || copy.identity.uid != MODULE_NOBODY)
        return id;
    copy.identity.uid = uid;
    return intern(&copy.identity, copy.path, module_open_file(id));
}

bool module_get(uint32_t id, struct module_info *info) {
    pthread_mutex_lock(&lock);
    bool exists = id >= 1 && id <= n_modules;
    if (exists) {
        const struct module *module = modules[id];
        *info = (struct module_info){
            .path = module->path,
            .build_id_len = module->identity.build_id_len,
            .is_trusted = module->identity.is_trusted,
            .is_vdso = module->identity.is_vdso,
            .fd = module->fd,
        };
        memcpy(info->build_id, module->identity.build_id, sizeof(info->build_id));
    }
    pthread_mutex_unlock(&lock);
    return exists;
}

/* A module's file that is not kept open, when it is still the same file. */
static int open_again(const struct module *module) {
    struct identity now = {.uid = module->identity.uid};
    int fd = module->identity.has_file ? module_open_path(module->path) : -1;
    identify(&now, fd, 0, module->path);
    if (!module->identity.is_trusted)
        now.is_trusted = false; /* of a file that is believed now, what the user's says is true */
    if (fd >= 0 && !same_module(module, &now, module->path)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* One that has no file is what everybody's module of that build-id is, if there is one. */
static struct module find_file(uint32_t id) {
    pthread_mutex_lock(&lock);
    struct module found = *modules[id];
    struct identity everybodys = found.identity;
    everybodys.is_trusted = true;
    uint32_t other = everybodys.build_id_len > 0 ? *find_slot(&everybodys, "") : 0;
    if (!found.identity.has_file && other != 0)
        found = *modules[other];
    pthread_mutex_unlock(&lock);
    return found;
}

int module_open_file(uint32_t id) {
    struct module_info info;
    if (!module_get(id, &info))
        return -1;
    struct module module = find_file(id);
    return module.fd >= 0 ? fcntl(module.fd, F_DUPFD_CLOEXEC, 0) : open_again(&module);
}
