/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * write_sample.c - writes a sample profile for readers_test.py: write_sample SAMPLE FORMAT > FILE
 *
 * All of it, whatever the format leaves out else because it is small.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/render/format.h"
#include "common/wire/compiler.h"
#include "tests/report/sample.h"

static const struct sample {
    const char *name;
    struct profile *(*make)(void);
} samples[] = {{"shell", sample_shell}, {"build", sample_build},        {"names", sample_names},
               {"calls", sample_calls}, {"bursts", sample_call_bursts}, {"hard", sample_hard}};

int main(int argc, char **argv) {
    const struct format *format = argc == 3 ? format_find(argv[2]) : NULL;
    struct format_options options = format_default_options;
    format_set_cut(&options, 0);
    format_set_top(&options, 1000);
    for (size_t i = 0; argc == 3 && i < HCCT_ARRAY_LEN(samples); i++) {
        struct profile *profile;
        bool ok;
        if (strcmp(samples[i].name, argv[1]) != 0)
            continue;
        profile = samples[i].make();
        if (strcmp(argv[2], "total") == 0) {
            printf("%" PRIu64 "\n", profile_total(profile));
            ok = true;
        } else {
            ok = format != NULL && format->write(stdout, profile, &options);
        }
        profile_free(profile);
        return ok ? 0 : 1;
    }
    fprintf(stderr, "usage: write_sample shell|build|names|calls|bursts|hard FORMAT|total\n");
    return 2;
}
