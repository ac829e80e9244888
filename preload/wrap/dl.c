/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * dl.c - after a dlclose, other code may stand where the object was; and stubs, which are no
 * object, have an unwind entry, so that exceptions, cancellation and backtraces of a signal handler
 * that has interrupted one get on.
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

hcct_export int _dl_find_object(void *address, struct dl_find_object *found) {
    if (hcct_unlikely(redirect_find_object((uint64_t)address, found)))
        return 0;
    return real_dl_find_object(address, found);
}
