/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * profil.c - profil() and gprof take SIGPROF by libc's own sigaction, which no wrapper sees: the
 * agent moves away before. Else libc would count our signals with its own, and we had none.
 */
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#include "common/wire/compiler.h"
#include "preload/life/agent.h"
#include "preload/life/confine.h"
#include "preload/life/handler.h"
#include "preload/life/signal.h"
#include "preload/wrap/real.h"

static void cede(void) {
    if (agent.process != NULL && signal_number() == SIGPROF && agent_owns_memory())
        signal_yield();
}

hcct_export int profil(unsigned short *buffer, size_t size, size_t offset, unsigned scale);
hcct_export int profil(unsigned short *buffer, size_t size, size_t offset, unsigned scale) {
    cede();
    return real_profil(buffer, size, offset, scale);
}

hcct_export int sprofil(struct prof *regions, int n, struct timeval *period, unsigned flags);
hcct_export int sprofil(struct prof *regions, int n, struct timeval *period, unsigned flags) {
    cede();
    return real_sprofil(regions, n, period, flags);
}

hcct_export void moncontrol(int mode);
hcct_export void moncontrol(int mode) {
    cede();
    real_moncontrol(mode);
}

hcct_export void monstartup(unsigned long low, unsigned long high);
hcct_export void monstartup(unsigned long low, unsigned long high) {
    cede();
    real_monstartup(false, low, high);
}

hcct_export void __monstartup(unsigned long low, unsigned long high);
hcct_export void __monstartup(unsigned long low, unsigned long high) {
    cede();
    real_monstartup(true, low, high);
}
