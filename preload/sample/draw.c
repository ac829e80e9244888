/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * draw.c - see draw.h for the laws.
 */
#include "preload/sample/draw.h"

uint64_t draw_word(uint64_t *state) {
    uint64_t word = *state += 0x9e3779b97f4a7c15ull;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ word >> 27) * 0x94d049bb133111ebull;
    return word ^ word >> 31;
}

uint64_t draw_below(uint64_t random, uint64_t limit) {
    return (uint64_t)((unsigned __int128)random * limit >> 64);
}

uint64_t draw_roulette(uint64_t random, uint64_t weight, uint64_t least) {
    if (weight >= least)
        return weight;
    return draw_below(random, least) < weight ? least : 0;
}

uint64_t draw_first_weight(uint64_t tick, uint64_t at, uint64_t switches) {
    if (switches == 0)
        return at < tick ? tick : at;
    return at + tick * switches / (switches + 1);
}

uint64_t draw_start_weight(uint64_t tick, uint64_t at) {
    return at < tick ? tick - at : 0;
}
