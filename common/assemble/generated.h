/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * generated.h - names of generated code, made readable.
 */
#ifndef HCCT_GENERATED_H
#define HCCT_GENERATED_H

#include "common/code/symbol_service.h"
#include "common/profile/profile.h"

/* The module of frames that stand for generated code. */
#define GENERATED_MODULE "[jit]"

/* Functions of generated code that go by a linker's name get that for people, too. */
void generated_demangle(struct profile *profile, struct symbol_service *service);

#endif
