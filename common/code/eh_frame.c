/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * eh_frame.c - where an ELF object keeps its unwind entries.
 */
#include "common/code/eh_frame.h"

#include <dwarf.h>
#include <string.h>

#include "common/code/cfi_program.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_ELF_DATA ELFDATA2LSB
#else
#define NATIVE_ELF_DATA ELFDATA2MSB
#endif

#define EH_FRAME_HDR_BYTES 4 /* version and three encodings, before its pointer to .eh_frame */

static bool find_code(Elf *elf, struct eh_frame *found) {
    size_t n;
    if (elf_getphdrnum(elf, &n) != 0)
        return false;
    found->code_start = UINT64_MAX;
    found->code_end = 0;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) == NULL)
            return false;
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 ||
            segment.p_vaddr + segment.p_memsz <= segment.p_vaddr)
            continue;
        if (segment.p_vaddr < found->code_start)
            found->code_start = segment.p_vaddr;
        if (segment.p_vaddr + segment.p_memsz > found->code_end)
            found->code_end = segment.p_vaddr + segment.p_memsz;
    }
    return found->code_start < found->code_end;
}

static bool find_section(Elf *elf, struct eh_frame *found) {
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS)
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (name == NULL || strcmp(name, ".eh_frame") != 0)
            continue;
        found->data = elf_rawdata(section, NULL);
        found->address = header.sh_addr;
        return found->data != NULL && found->data->d_buf != NULL;
    }
    return false;
}

/* The address of .eh_frame, as its search table says. */
static bool eh_frame_address(Elf *elf, const GElf_Phdr *header, uint8_t address_bytes,
                             uint64_t *address) {
    Elf_Data *data =
        elf_getdata_rawchunk(elf, (int64_t)header->p_offset, header->p_filesz, ELF_T_BYTE);
    if (data == NULL || data->d_buf == NULL || data->d_size < EH_FRAME_HDR_BYTES)
        return false;
    const uint8_t *p = data->d_buf;
    const uint8_t *end = p + data->d_size;
    struct cfi_cie format = {.encoding = p[1], .address_bytes = address_bytes};
    format.place_bias = header->p_vaddr - (uint64_t)(uintptr_t)p;
    p += EH_FRAME_HDR_BYTES;
    return cfi_read_address(&format, &p, end, false, address);
}

/* The entries end with a terminator, or with the segment that they are in. */
static bool read_to_segment_end(Elf *elf, size_t n_segments, struct eh_frame *found) {
    for (size_t i = 0; i < n_segments; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) == NULL)
            return false;
        uint64_t into = found->address - segment.p_vaddr;
        if (segment.p_type != PT_LOAD || into >= segment.p_filesz)
            continue;
        found->data = elf_getdata_rawchunk(elf, (int64_t)(segment.p_offset + into),
                                           segment.p_filesz - into, ELF_T_BYTE);
        return found->data != NULL && found->data->d_buf != NULL;
    }
    return false;
}

static bool find_by_program_header(Elf *elf, struct eh_frame *found) {
    size_t n;
    if (elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) == NULL)
            return false;
        if (header.p_type == PT_GNU_EH_FRAME)
            return eh_frame_address(elf, &header, found->address_bytes, &found->address) &&
                   read_to_segment_end(elf, n, found);
    }
    return false;
}

bool eh_frame_find(Elf *elf, struct eh_frame *found) {
    GElf_Ehdr header;
    size_t ident_bytes;
    memset(found, 0, sizeof *found);
    if (gelf_getehdr(elf, &header) == NULL || header.e_ident[EI_DATA] != NATIVE_ELF_DATA ||
        (header.e_type != ET_EXEC && header.e_type != ET_DYN))
        return false;
    found->ident = (const unsigned char *)elf_getident(elf, &ident_bytes);
    found->machine = header.e_machine;
    found->address_bytes = header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    return find_code(elf, found) &&
           (find_section(elf, found) || find_by_program_header(elf, found));
}
