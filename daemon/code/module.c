/*
 * module.c - ELF objects by what they are: a registry with a hash table of identities.
 */
#include "daemon/code/module.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/code/build_id.h"
#include "daemon/code/module_open.h"

#define INDEX_SLOTS (2 * MODULES_MAX)

/* What tells modules apart: the build-id alone where there is one. */
struct identity {
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

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n) {
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3ull;
    return hash;
}

static uint32_t first_slot(const struct identity *identity, const char *path) {
    uint64_t hash = 0xcbf29ce484222325ull;
    if (identity->is_vdso)
        return 0;
    if (identity->build_id_len > 0) {
        hash = hash_bytes(hash, identity->build_id, identity->build_id_len);
    } else {
        hash = hash_bytes(hash, path, strlen(path));
        hash = hash_bytes(hash, &identity->inode, sizeof(identity->inode));
    }
    return (uint32_t)(hash ^ hash >> 32) % INDEX_SLOTS;
}

static bool same_file(const struct identity *a, const struct identity *b) {
    return a->has_file == b->has_file && a->device == b->device && a->inode == b->inode &&
           a->bytes == b->bytes && a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

static bool same_module(const struct module *module, const struct identity *identity,
                        const char *path) {
    const struct identity *own = &module->identity;
    if (own->is_vdso || identity->is_vdso)
        return own->is_vdso == identity->is_vdso;
    if (own->build_id_len > 0 || identity->build_id_len > 0)
        return own->build_id_len == identity->build_id_len &&
               memcmp(own->build_id, identity->build_id, own->build_id_len) == 0;
    return same_file(own, identity) && strcmp(module->path, path) == 0;
}

/* The slot of an identity, or the free one where it belongs. */
static uint32_t *find_slot(const struct identity *identity, const char *path) {
    uint32_t slot = first_slot(identity, path);
    while (slots[slot] != 0 && !same_module(modules[slots[slot]], identity, path))
        slot = (slot + 1) % INDEX_SLOTS;
    return &slots[slot];
}

/* Fills in what a file says of itself. A build-id of the mapping has been held against the file's
 * when that was opened. */
static void identify(struct identity *identity, int fd) {
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
    if (fd >= 0 && module->fd < 0 && files_open < files_max) {
        module->fd = fd;
        files_open++;
    } else if (fd >= 0) {
        close(fd);
    }
}

static struct module *add_module(uint32_t *slot, const struct identity *identity,
                                 const char *path) {
    struct module *module = n_modules < MODULES_MAX ? malloc(sizeof(*module)) : NULL;
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

/* The id of a module that has its file already: nearly always, and then nothing is opened. */
static uint32_t find_complete(const struct identity *identity) {
    pthread_mutex_lock(&lock);
    uint32_t id = *find_slot(identity, "");
    if (id != 0 && !modules[id]->identity.has_file)
        id = 0;
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t module_intern(const struct module_mapping *mapping) {
    struct identity identity = {.is_vdso = mapping->is_vdso};
    char path[PATH_MAX] = "[vdso]";
    if (!mapping->is_vdso && mapping->build_id_len > 0 &&
        mapping->build_id_len <= MODULE_BUILD_ID_MAX) {
        identity.build_id_len = mapping->build_id_len;
        memcpy(identity.build_id, mapping->build_id, mapping->build_id_len);
    }
    if (identity.is_vdso || identity.build_id_len > 0) {
        uint32_t id = find_complete(&identity);
        if (id != 0)
            return id;
    }
    int fd = mapping->is_vdso ? module_open_vdso() : module_open_mapping(mapping, path);
    identify(&identity, fd);
    return intern(&identity, path, fd);
}

uint32_t module_intern_path(const char *path) {
    struct identity identity = {.is_vdso = false};
    int fd = module_open_path(path);
    identify(&identity, fd);
    return intern(&identity, path, fd);
}

bool module_get(uint32_t id, struct module_info *info) {
    pthread_mutex_lock(&lock);
    bool exists = id >= 1 && id <= n_modules;
    if (exists) {
        const struct module *module = modules[id];
        *info = (struct module_info){
            .path = module->path,
            .build_id_len = module->identity.build_id_len,
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
    struct identity now = {.is_vdso = false};
    int fd = module->identity.has_file ? module_open_path(module->path) : -1;
    identify(&now, fd);
    if (fd >= 0 && !same_module(module, &now, module->path)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int module_open_file(uint32_t id) {
    struct module_info info;
    if (!module_get(id, &info))
        return -1;
    if (info.fd >= 0)
        return fcntl(info.fd, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_lock(&lock);
    struct module copy = *modules[id];
    pthread_mutex_unlock(&lock);
    return open_again(&copy);
}
