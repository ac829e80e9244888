/*
 * wrap_dl.c - after a dlclose, other code may stand where the object was.
 */
#include <dlfcn.h>

#include "preload/agent.h"
#include "preload/calls.h"
#include "preload/modules.h"
#include "preload/real.h"

hcct_export int dlclose(void *handle) {
    modules_closing();
    int result = real_dlclose(handle);
    modules_closed();
    calls_distrust();
    return result;
}
