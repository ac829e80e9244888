/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * numbers.c - a list, callers first.
 */
#include "common/profile/numbers.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "common/profile/copy.h"

uint32_t numbers_add(struct profile *profile, uint64_t number, uint32_t parent, uint32_t location) {
    if (profile->n_numbers == 0)
        profile->n_numbers = 1; /* 0 is none */
    uint32_t n = profile->n_numbers;
    profile->numbers = memory_grow(profile->numbers, n, &profile->number_room,
                                   sizeof *profile->numbers, "numbers of contexts");
    profile->numbers[n] = (struct profile_number){number, parent, location};
    profile->n_numbers = n + 1;
    return n;
}

static int by_number(const void *a, const void *b, void *numbers) {
    const struct profile_number *all = numbers;
    uint64_t x = all[*(const uint32_t *)a].number, y = all[*(const uint32_t *)b].number;
    return x < y ? -1 : x > y;
}

uint32_t *numbers_sort(const struct profile *profile) {
    uint32_t *sorted = memory_new(profile->n_numbers + 1, sizeof *sorted, "numbers of contexts");
    for (uint32_t i = 1; i < profile->n_numbers; i++)
        sorted[i - 1] = i;
    if (profile->n_numbers > 1)
        qsort_r(sorted, profile->n_numbers - 1, sizeof *sorted, by_number, profile->numbers);
    return sorted;
}

uint32_t numbers_find(const struct profile *profile, const uint32_t *sorted, uint64_t number) {
    uint32_t low = 0, n = profile->n_numbers > 0 ? profile->n_numbers - 1 : 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (profile->numbers[sorted[middle]].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && profile->numbers[sorted[low]].number == number ? sorted[low] : 0;
}

void numbers_copy(struct profile *to, const struct profile *from) {
    uint32_t *place = memory_new(from->n_locations, sizeof *place, "locations");
    for (uint32_t i = 1; i < from->n_numbers; i++) {
        const struct profile_number *it = &from->numbers[i];
        if (place[it->location] == 0)
            place[it->location] = copy_location(to, from, it->location);
        numbers_add(to, it->number, it->parent, place[it->location]);
    }
    free(place);
}
