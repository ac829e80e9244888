/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * main.c - the command that people type: a table of subcommands.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "client/command.h"
#include "common/base/nearest.h"
#include "common/base/options.h"
#include "common/base/roomy_stack.h"
#include "common/code/elf_worker.h"
#include "common/wire/compiler.h"

#define ELF_WORKER_FD 3 /* where a worker child finds its socket (elf_worker.h) */

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"record", cmd_record, "run a command, show its hottest contexts, write its profile"},
    {"attach", cmd_attach, "load the agent into a program that runs already"},
    {"detach", cmd_detach, "end what attach has begun"},
    {"hot", cmd_hot, "the hot contexts of running programs, from hcctd"},
    {"top", cmd_top, "the hot contexts of running programs, as a live screen"},
    {"list", cmd_list, "what hcctd profiles"},
    {"start", cmd_start, "resume sampling a program, after stop"},
    {"stop", cmd_stop, "pause sampling a program"},
    {"set", cmd_set, "change the sampling rate of a running program"},
    {"snapshot", cmd_snapshot, "make hcctd write profiles into its report directory"},
    {"replay", cmd_replay, "the profile of a recorded trace, with any algorithm"},
    {"report", cmd_report, "show or convert a profile file"},
    {"annotate", cmd_annotate, "the source lines of a function, with what each weighs"},
    {"doctor", cmd_doctor, "what works on this machine, and for a program; and why not"},
    {"diff", cmd_diff, "what changed between two profiles, and what of it is more than error"},
    {"merge", cmd_merge, "add up profiles of several runs or hosts"},
    {"decode", cmd_decode, "the paths of contexts by the numbers that programs have logged"},
    {"encode", cmd_encode, "calling contexts as numbers, tried on a recorded trace"},
    {"push", cmd_push, "send what hcctd profiles to a server, every 15 seconds what is new"},
    {"fleet", cmd_fleet, "the hot contexts of many hosts, from ClickHouse"},
    {"eval", cmd_eval, "compare a profile with an exact one: the accuracy of contexts and counts"},
};

static void print_help(void) {
    printf("usage: hcct COMMAND [options]\n\n"
           "Finds the hot calling contexts of running programs, in bounded memory and with\n"
           "bounded error.\n\ncommands:\n");
    for (size_t i = 0; i < HCCT_ARRAY_LEN(commands); i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].help);
    printf("\n'hcct help COMMAND' explains one. To begin: hcct record -- ./app args\n");
}

static const struct command *find(const char *name) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int complain_unknown(const char *name) {
    char known[256] = "";
    struct nearest nearest = {.typed = name};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(commands); i++)
        nearest_offer(&nearest, commands[i].name);
    if (nearest.word != NULL) {
        complain("there is no command '%s': did you mean '%s'? 'hcct help' lists all", name,
                 nearest.word);
        return HCCT_EXIT_USAGE;
    }
    for (size_t i = 0; i < HCCT_ARRAY_LEN(commands); i++) {
        strcat(known, i > 0 ? ", " : "");
        strcat(known, commands[i].name);
    }
    complain("there is no command '%s'; there are: %s, help", name, known);
    return HCCT_EXIT_USAGE;
}

static int help(int argc, char **argv) {
    const struct command *command = argc > 1 ? find(argv[1]) : NULL;
    if (argc > 1 && command == NULL)
        return complain_unknown(argv[1]);
    if (command != NULL)
        return command->run(2, (char *[]){argv[1], (char[]){"--help"}, NULL});
    print_help();
    return HCCT_EXIT_OK;
}

static int hcct_main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--elf-worker") == 0) /* replay's child (elf_worker.h) */
        return elf_worker_main(ELF_WORKER_FD);
    options_program = "hcct";
    setlocale(LC_CTYPE, ""); /* reports draw their trees with what the terminal can show */
    if (argc < 2) {
        complain("say what to do: 'hcct --help' lists the commands");
        return HCCT_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(name, "--version") == 0) {
        printf("hcct %s\n", HCCT_VERSION);
        return HCCT_EXIT_OK;
    }
    const struct command *command = find(name);
    return command != NULL ? command->run(argc - 1, argv + 1) : complain_unknown(name);
}

int main(int argc, char **argv) {
    return roomy_stack_run(hcct_main, argc, argv);
}
