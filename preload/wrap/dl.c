/*
 * dl.c - after a dlclose, other code may stand where the object was.
 */
#include <dlfcn.h>

#include "preload/calls/calls.h"
#include "preload/life/agent.h"
#include "preload/life/modules.h"
#include "preload/redirect/redirect.h"
#include "preload/wrap/real.h"

hcct_export int dlclose(void *handle) {
    modules_closing();
    redirect_closing();
    int result = real_dlclose(handle);
    modules_closed();
    calls_invalidate();
    redirect_closed();
    return result;
}
