/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sample_dump.c - a profile as text.
 */
#include "tests/report/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/render/pprof_comments.h"

char *sample_dump(const struct profile *profile) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out, "%s %s %a %a %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", profile->type,
            profile->unit, profile->phi, profile->epsilon, profile->summary, profile->period,
            profile->time_ns, profile->duration_ns);
    for (uint32_t i = 1; i < profile->n_processes; i++) {
        char *comment = comment_process(profile, i);
        fprintf(out, "%s\n", comment);
        free(comment);
    }
    for (uint32_t i = 1; i < profile->n_nodes; i++) {
        if (profile->nodes[i].count == 0 && profile->nodes[i].error == 0)
            continue;
        fprintf(out, "%u %" PRIu64 " %" PRIu64, (unsigned)profile->nodes[i].process,
                profile->nodes[i].count, profile->nodes[i].error);
        for (uint32_t at = i; profile->nodes[at].parent != 0; at = profile->nodes[at].parent) {
            const struct profile_location *place = &profile->locations[profile->nodes[at].location];
            const struct profile_module *module = &profile->modules[place->module];
            fprintf(out, " | %s %s %" PRIx64 "-%" PRIx64 " %" PRIx64 " %" PRIx64 " %d",
                    module->path, module->build_id, module->start, module->limit, place->address,
                    place->routine, place->is_entry);
            for (uint32_t k = 0; k < place->n_lines; k++) {
                const struct profile_function *function =
                    &profile->functions[place->lines[k].function];
                fprintf(out, " %s %s %s %u %u", function->name, function->system_name,
                        function->file, (unsigned)function->start_line,
                        (unsigned)place->lines[k].line);
            }
        }
        fputc('\n', out);
    }
    fclose(out);
    return text;
}
