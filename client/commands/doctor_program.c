/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * doctor_program.c - a command, before it is run: does it load the agent, and what will be known
 * about it?
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/commands/call_files.h"
#include "client/commands/doctor.h"
#include "client/commands/no_agent.h"
#include "client/program_file.h"
#include "common/profile/call_words.h"
#include "common/wire/call_choice.h"

static void inspect_loads(struct finding *finding, const char *command) {
    struct program_file program;
    char reason[sizeof finding->text];
    if (no_agent_prevented(command, reason, sizeof reason))
        finding_set(finding, FINDING_PROBLEM, "%s", reason);
    else if (program_file_find(command, &program))
        finding_set(finding, FINDING_OK, "%s is dynamically linked", program.path);
}

/* Which sections tell of its functions. */
struct sections {
    bool symbols, debug, unwind, dynamic_symbols, build_id;
};

static void note_section(const char *name, struct sections *found) {
    found->symbols |= strcmp(name, ".symtab") == 0;
    found->dynamic_symbols |= strcmp(name, ".dynsym") == 0;
    found->debug |= strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0;
    found->unwind |= strcmp(name, ".eh_frame") == 0;
    found->build_id |= strcmp(name, ".note.gnu.build-id") == 0;
}

/* This is the user's own program, which hcct record would run: no other process reads it. */
static bool read_sections(const char *path, struct sections *found) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = NULL;
    Elf_Scn *section = NULL;
    size_t names;
    *found = (struct sections){0};
    if (fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
        elf = elf_begin(fd, ELF_C_READ, NULL);
    bool good = elf != NULL && elf_getshdrstrndx(elf, &names) == 0;
    while (good && (section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name != NULL)
            note_section(name, found);
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return good;
}

static void inspect_names(struct finding *finding, const char *command) {
    struct program_file program;
    struct sections found;
    if (!program_file_find(command, &program) || !read_sections(program.path, &found))
        finding_set(finding, FINDING_NOTE, "%s can't be read", program.path);
    else if (found.debug)
        finding_set(finding, FINDING_OK, "symbols, inlined functions and lines");
    else
        finding_set(finding, found.symbols ? FINDING_OK : FINDING_NOTE,
                    "%s; build with -g%s for inlined functions and lines",
                    found.symbols ? "symbols, no debug information"
                                  : "stripped: only functions that libraries may call have a name",
                    found.build_id ? ", or install its -dbgsym package" : "");
}

static void inspect_unwind(struct finding *finding, const char *command) {
    struct program_file program;
    struct sections found;
    if (!program_file_find(command, &program) || !read_sections(program.path, &found))
        finding_set(finding, FINDING_NOTE, "%s can't be read", program.path);
    else if (found.unwind)
        finding_set(finding, FINDING_OK, "its stack can be walked (.eh_frame)");
    else
        finding_set(finding, FINDING_NOTE,
                    "no unwind information (.eh_frame): its frames are followed by frame pointers "
                    "where it has them; build without -fno-asynchronous-unwind-tables");
}

/* What there is among the files of a program. */
struct call_survey {
    bool own_hooks, followed; /* of any; followed: without being asked for by name */
    enum calls_verdict program;
};

/* Not by its headers alone: there may be no call in it. */
static enum calls_verdict verdict_of_code(const struct call_file *file) {
    if (file->verdict != CALLS_FOLLOWED)
        return file->verdict;
    struct call_sites *sites = call_file_sites(file->path);
    enum calls_verdict verdict = sites != NULL ? sites->verdict : CALLS_UNREADABLE;
    free(sites);
    return verdict;
}

/* The program comes first; of libraries one that is followed is enough. */
static void survey_file(void *arg, const struct call_file *file) {
    struct call_survey *survey = arg;
    survey->own_hooks |= file->verdict == CALLS_OWN_HOOKS;
    if (file->is_program)
        survey->program = verdict_of_code(file);
    if (!survey->followed && call_choice(NULL, file->path))
        survey->followed =
            (file->is_program ? survey->program : verdict_of_code(file)) == CALLS_FOLLOWED;
}

static void inspect_calls(struct finding *finding, const char *command) {
    struct program_file program;
    struct call_survey survey = {0};
    char reason[sizeof finding->text];
    if (program_file_find(command, &program) && program.is_elf && program.loader[0] == '\0')
        finding_set(finding, FINDING_NOTE,
                    "statically linked: what it reports can't reach the agent");
    else if (no_agent_prevented(command, reason, sizeof reason))
        finding_set(finding, FINDING_NOTE, "can't be counted, as the agent can't be in it");
    else if (!call_files_visit(command, survey_file, &survey))
        finding_set(finding, FINDING_NOTE, "it is not known whether its calls can be counted");
    else if (survey.own_hooks)
        finding_set(finding, FINDING_OK,
                    "built with -finstrument-functions, it or a library: --collector calls is "
                    "possible");
    else if (survey.followed && survey.program != CALLS_FOLLOWED)
        finding_set(finding, FINDING_NOTE,
                    "only those of libraries can be followed, not the program's own: %s",
                    call_verdict_words(survey.program));
    else if (survey.followed)
        finding_set(finding, FINDING_OK, "can be followed as it is: --collector calls is possible");
    else
        finding_set(finding, FINDING_NOTE, "can't be counted: %s",
                    call_verdict_words(survey.program));
}

const struct check doctor_program[] = {
    {"start", inspect_loads},
    {"names", inspect_names},
    {"stack", inspect_unwind},
    {"calls", inspect_calls},
    {NULL, NULL},
};
