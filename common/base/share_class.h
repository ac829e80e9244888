/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * share_class.h - contexts by their share of the total: heavy ones (and what is left beside them)
 * last longer than light ones, mostly, so the scatter of their samples is kept apart.
 */
#ifndef HCCT_SHARE_CLASS_H
#define HCCT_SHARE_CLASS_H

#define SHARE_CLASSES 4

/* Of a share, or what it lacks to 1, whichever is less. */
static inline double share_class_least(int of) {
    static const double least[SHARE_CLASSES] = {0.25, 0.04, 0.006, 0.0006};
    return least[of];
}

/* The share that stands for all of the class. */
static inline double share_class_middle(int of) {
    static const double middle[SHARE_CLASSES] = {0.4, 0.1, 0.015, 0.002};
    return middle[of];
}

/* SHARE_CLASSES: too light for any. */
static inline int share_class(double share) {
    double part = share < 0.5 ? share : 1 - share;
    int of = 0;
    while (of < SHARE_CLASSES && part < share_class_least(of))
        of++;
    return of;
}

#endif
