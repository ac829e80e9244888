/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * show_call_sites.c - prints the table of a file's call sites as text, and with a second word as it
 * is: for call_sites_objdump_test.py and call_sites_test.py.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/code/call_sites_compile.h"

int main(int argc, char **argv) {
    size_t bytes;
    int fd = argc >= 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    elf_version(EV_CURRENT);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    struct call_sites *table = elf != NULL ? call_sites_compile(elf, &bytes) : NULL;
    if (table == NULL || !call_sites_check(table, bytes))
        return 1;
    if (argc == 3) {
        fwrite(table, 1, bytes, stdout);
        return 0;
    }
    printf("verdict %" PRIu32 " found %" PRIu32 " plt %" PRIu32 " left", table->verdict,
           table->found[0], table->found[1]);
    for (int i = 0; i < CALL_LEFT_REASONS; i++)
        printf(" %" PRIu32, table->left[i]);
    printf("\n");
    for (uint32_t i = 0; i < table->sites; i++) {
        const struct call_site *site = &call_sites_of(table)[i];
        const struct call_callee *callee = &call_sites_callees(table)[site->callee];
        printf("site %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s%+" PRId32 "\n",
               table->text_start + site->at, table->text_start + site->routine, callee->target,
               callee->got, site->frame == CALL_FRAME_FP ? "rbp" : "rsp", site->cfa);
    }
    return 0;
}
