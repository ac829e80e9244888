/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * tls_library.c - thread-local memory that is too large to be set aside beforehand.
 */
static _Thread_local int large[20000];

int tls_touch(int number);

int tls_touch(int number) {
    int sum = 0;
    for (int i = 0; i < 3; i++)
        large[number % 1000 + i * 5000] = number;
    for (int i = 0; i < 3; i++)
        sum += large[number % 1000 + i * 5000];
    return sum;
}
