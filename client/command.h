/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * command.h - the subcommands. Each takes its own argv (argv[0] is its name) and gives the
 * program's exit status.
 */
#ifndef HCCT_COMMAND_H
#define HCCT_COMMAND_H

/* What record writes and report reads where nothing else is said. */
#define HCCT_RECORDED "hcct.pb.gz"

int cmd_attach(int argc, char **argv);
int cmd_detach(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_hot(int argc, char **argv);
int cmd_fleet(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_push(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_stop(int argc, char **argv);

#endif
