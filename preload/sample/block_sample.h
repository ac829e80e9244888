/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * block_sample.h - what is more than an event about a sampled block: it is followed until it is
 * freed, by a number that the session's memory and the ring have.
 */
#ifndef HCCT_BLOCK_SAMPLE_H
#define HCCT_BLOCK_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct agent_thread;
struct wire_session;
struct wire_slot;

/* The library may tell of its blocks. Before it is ready. Process context. */
void block_sample_start(void);

/* What is credited next is the block of that number, or one that was drawn so: WIRE_DRAWN (BLOCK,
 * common/wire/wire.h). False: the ring is full. Within event_inside, in the
 * session. */
bool block_sample_name(struct agent_thread *thread, struct wire_slot *slot, uint64_t number);

/* A block weighs so much from now on, WIRE_BLOCK_WEIGHT. The same. */
void block_sample_show(struct wire_session *session, uint64_t number, uint64_t weight);

/* The mean between two sampled blocks was doubled so many times: the session hears of the largest.
 * The same. */
void block_sample_tell_mean(struct wire_session *session, uint32_t doubled);

/* An agent is attached: blocks from before are not its own. Before it is ready. */
void block_sample_renew(void);

/* In a child of fork. Process context. */
void block_sample_in_child(void);

#endif
