/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_copy.h - a module's text twice: as the file has it, and with its calls redirected.
 *
 * One of the two is where the program runs it; the other rests elsewhere. They change places by
 * moving mappings, so whoever runs there meets one or the other, and never a hole. The file's
 * mapping is kept as it was, with what a debugger has written to it.
 */
#ifndef HCCT_TEXT_COPY_H
#define HCCT_TEXT_COPY_H

#include <stdbool.h>

#include "common/wire/call_sites.h"
#include "preload/redirect/module.h"

/* Makes stubs and the copy of the text for `m`, of which text, bytes, sites and callees are known.
 * CALLS_FOLLOWED, or why not; then nothing is left of it. Any context, one thread at a time. */
enum calls_verdict text_copy_make(struct redirect_module *m, uint64_t bias,
                                  const struct call_sites *table);
/* The stubs alone. */
enum calls_verdict text_copy_make_stubs(struct redirect_module *m);
/* They change places. False: nothing has changed. Any context, one thread at a time, while the
 * object is mapped. */
bool text_copy_switch(struct redirect_module *m, bool on);
/* The copy is made again, by what m->form->lead does now. Where there is no memory it stays as it
 * is. As above. */
void text_copy_write_anew(struct redirect_module *m);
/* The object has gone, or will not be redirected. Any context. */
void text_copy_free(struct redirect_module *m);

#endif
