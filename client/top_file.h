/*
 * top_file.h - a copy of what is seen, as a file.
 */
#ifndef HCCT_TOP_FILE_H
#define HCCT_TOP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes a profile to a new file in the working directory, "hcct-top-PID-TIME.pb.gz", whole or not
 * at all; *name is its name. No file that is there is touched. False: `error` is a sentence. */
bool top_file_write(const void *profile, size_t bytes, uint32_t pid, char *name, size_t name_bytes,
                    char *error, size_t error_bytes);

#endif
