/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * jump_target.h - where a longjmp leads, by libc's own way of hiding it. One file for each
 * architecture.
 */
#ifndef HCCT_JUMP_TARGET_H
#define HCCT_JUMP_TARGET_H

#include <setjmp.h>
#include <stdint.h>

/* The stack pointer that it will have; 0: not known. Any context. */
uintptr_t jump_target_sp(const struct __jmp_buf_tag *buffer) __attribute__((visibility("hidden")));

#endif
