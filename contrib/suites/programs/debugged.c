/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <stdio.h>

int leaf(int n) {
    volatile int s = 0;
    for (int i = 0; i < 1000; i++)
        s += i * n;
    return s;
}

int main(void) {
    int s = 0;
    for (int i = 0; i < 20000; i++)
        s += leaf(i) & 7;
    printf("%d\n", s);
    return 0;
}
