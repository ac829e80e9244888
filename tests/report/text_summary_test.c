/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * text_summary_test.c - the lines above the text report's tables: each stands there when there is
 * something to say.
 */
#include "tests/check.h"

#include <math.h>

#include "common/profile/chance.h"
#include "common/render/format.h"
#include "common/wire/compiler.h"
#include "tests/report/sample.h"
#include "tests/report/text_report.h"

/* Lines that stand there only when there is something to say. */
static void test_counters(void) {
    struct profile *profile = sample_shell();
    struct profile_process *process = &profile->processes[1];
    check_says(profile, "walked twice", false);
    check_says(profile, "bursts", false);
    check_says(profile, " s of CPU time in 9,633 samples", true);
    check_says(profile, "\nsampling  95 % intervals: 50 % +-1.0 points, 10 % +-0.6, 1 % +-0.2\n",
               true);
    check_says(profile, "\nrate ", false);
    process->walks = 4000;
    check_says(profile,
               " samples per second of CPU time, 1,000 were asked for: points that are reached",
               true);
    process->skipped = 5600;
    check_says(profile, " were asked for: the others were skipped, as each takes long here; those",
               true);
    process->rate_changes = 1;
    check_says(profile, " on the whole: it was changed while this ran; each sample weighs", true);
    check_says(profile, "asked for", false);
    process->rate_changes = process->skipped = 0;
    process->walks = 9633;
    check_says(profile, "\nencode ", false);
    process->encoded = 9000;
    process->frames = 20000;
    process->encoded_frames = 15000;
    check_says(profile,
               "\nencode    100.0 % of the contexts by the calls that were open, and 75.0 % of all "
               "frames\n",
               true);
    process->encode_foreign = 1000;
    check_says(profile,
               "\nencode    90.0 % of the contexts by the calls that were open, and 75.0 % of all "
               "frames\n          by walks: 0 where no calls were kept, 1,000 on another stack, 0 "
               "where no simple rule led to one\n",
               true);
    process->checked = 9000;
    process->different = 2;
    process->refused = 1;
    check_says(profile, "\ncheck     9,000 stacks walked twice, 2 differ\n", true);
    check_says(profile, "3 stacks sent as copies and unwound by the daemon (1 in vain)\n", true);
    process->bursts = 1;
    check_says(profile, "bursts", false); /* one without end is none */
    process->bursts = 100;
    process->burst_length_ns = 2000000;
    process->burst_period_ns = 20000000;
    check_says(profile, "\nbursts    100, each 2.0 ms long, one in 20.0 ms\n", true);
    check_says(profile,
               "50 % +-9.6 points, 10 % +-6.0, 1 % +-2.6; what one burst sees counts "
               "as one sample\n",
               true);
    for (int i = 0; i < SHARE_CLASSES; i++) {
        process->varied[i] = 4000;
        process->independent[i] = 1000;
    }
    process->varied_total = 100000000;
    process->drawn = 1000000;
    check_says(profile, "; worth 2,408 independent samples\n", true);
    for (int i = 0; i < SHARE_CLASSES; i++)
        process->independent[i] = 8000;
    check_says(profile, "; worth 19,266 independent samples\n", true);
    for (int i = 0; i < SHARE_CLASSES; i++)
        process->independent[i] = 1000;
    check_says(profile, " +-", true); /* the total, which varies by a 100th: 1.96 times that */
    process->varied_total = 0;
    profile->type = "wall";
    check_says(profile, " s of wall-clock time in 9,633 samples", true);
    profile_free(profile);
    profile = sample_empty();
    profile->type = "wall";
    check_says(profile, "was gone before its first sample.\n", true);
    profile->type = "calls";
    profile->unit = "count";
    check_says(profile, "Nothing to show: sleep (pid 9) called no instrumented function.\n", true);
    profile_free(profile);
}

/* What is known of the time that no context has, before what is supposed. */
static void test_no_room(void) {
    struct profile *profile = sample_shell();
    struct profile_process *process = &profile->processes[1];
    uint64_t total = 0;
    for (uint32_t i = 1; i < profile->n_nodes; i++)
        total += profile->nodes[i].count;
    profile->kernel_ns = 2 * total;
    check_says(profile, "no room", false);
    check_says(profile, "; the rest is in no context: exec, the dynamic loader", true);
    process->no_room = 1;
    process->no_room_ns = total / 4;
    check_says(profile, "; the rest is in no context: threads that were not sampled (", true);
    check_says(profile, "), exec, the dynamic loader", true);
    check_says(profile,
               "\nno room   1 thread had too small a stack for the agent's signal, and was not "
               "sampled: ",
               true);
    process->no_room_ns = total;
    check_says(profile, "exec, the dynamic loader", false);
    process->no_room = 20;
    process->no_room_ns = 0;
    check_says(profile, "threads that were not sampled, exec, the dynamic loader", true);
    check_says(profile,
               "\nno room   20 threads had too small a stack for the agent's signal, and were not "
               "sampled\n",
               true);
    profile_free(profile);
    profile = sample_empty();
    profile->processes[1].no_room = 2;
    check_says(profile,
               "Nothing to show: sleep (pid 9) has no sample: threads had too small a stack for "
               "the agent's signal.\n",
               true);
    profile_free(profile);
}

/* What is in no context may all be one's, or none of it: shares of all there was stay within. */
static void check_room(const struct chance *chance, double lost) {
    for (double share = 0.01; share < 1; share += 0.07) {
        double whole = chance->total + lost, own = share * chance->total;
        double half = chance_half_width(chance, share, 0);
        CHECK(share - half <= own / whole && (own + lost) / whole <= share + half);
        CHECK(chance_weight_half_width(chance, own, 0) >= lost);
    }
}

static void test_room_for_lost(void) {
    struct profile *profile = sample_shell();
    struct profile_process *process = &profile->processes[1];
    uint64_t total = process->total = profile_total(profile);
    profile->type = "wall";
    check_says(profile, "they have room", false);
    struct chance chance = chance_of(profile);
    double before = chance_half_width(&chance, 0.1, 0);
    process->lost_ns = 3 * total;
    chance = chance_of(profile);
    check_room(&chance, 3 * (double)total);
    CHECK(fabs(chance_half_width(&chance, 0.1, 0) - before - 0.75 * 0.9) < 1e-9);
    check_says(profile,
               "; they have room for the 75.0 % that was lost, which may be any context's\n", true);
    process->lost_ns = 0;
    profile->type = "cpu";
    process->clock = "cpu";
    process->collector = "walks";
    process->cpu_ns = 4 * total;
    chance = chance_of(profile);
    check_room(&chance, 3 * (double)total);
    check_says(profile, "room for the 75.0 % that was left out, which", true);
    process->lost_ns = total;
    check_says(profile, "room for the 75.0 % that was lost or was left out, which", true);
    profile_free(profile);
}

/* On the wall clock, too, half of which is in no context: it is no part of the cost alone. */
static void test_lost_of_wall(void) {
    struct profile *profile = sample_shell();
    struct profile_process *process = &profile->processes[1];
    profile->type = "wall";
    check_says(profile, "\nlost ", false);
    process->lost_ns = profile_total(profile);
    check_says(profile,
               " of wall-clock time, 50.0 % of what there was, is in no context: threads slept",
               true);
    profile->type = "delay";
    check_says(profile, "\nlost ", false);
    profile_free(profile);
}

/* CPU time that the process's clock has counted, and nothing stands for. */
static void test_left_out(void) {
    struct profile *profile = sample_shell();
    struct profile_process *process = &profile->processes[1];
    uint64_t total = process->total = profile_total(profile);
    process->clock = "cpu";
    process->collector = "walks";
    process->cpu_ns = total;
    check_says(profile, "\nleft out ", false);
    process->cpu_ns = 4 * total;
    check_says(profile, "\nleft out  ", true);
    check_says(profile, " of CPU time, 75.0 % of what there was, is in no context: samples", true);
    struct chance chance = chance_of(profile);
    CHECK(fabs(chance_left_out(&chance) - 3 * (double)total) < 2);
    CHECK(chance_total_half_width(&chance) >= chance_left_out(&chance));
    profile->kernel_ns = 5 * total;
    process->start_ns = total;
    check_says(profile, "; the rest is in no context: what was left out (", true);
    check_says(profile, "), exec and the dynamic loader (", true);
    check_says(profile, "programs that can't load", false);
    profile->kernel_ns = 0;
    check_says(profile,
               "is in no context: exec and the dynamic loader, before the first constructor", true);
    process->start_ns = 0;
    process->lost_ns = 2 * total;
    process->unasked_ns = total;
    chance = chance_of(profile);
    CHECK(chance_left_out(&chance) == 0 && chance_total_half_width(&chance) >= 2 * (double)total);
    check_says(profile, "\nleft out ", false);
    check_says(profile, "\nstart ", false);
    process->lost_ns = process->unasked_ns = 0;
    profile->window_ns = 1000000000;
    check_says(profile, "\nleft out ", false);
    profile_free(profile);
}

/* Children of fork that no sample has met; and why N is more than the kernel has counted. */
static void test_children(void) {
    struct profile *profile = sample_shell();
    struct profile_process *process = &profile->processes[1];
    uint64_t total = profile_total(profile);
    check_says(profile, "\nchildren ", false);
    process->forked = 6;
    process->children = 6;
    process->attach_ns = 20000000;
    check_says(profile, "\nchildren ", false);
    process->forked = 500;
    check_says(profile,
               "\nchildren  500 forked, of which 494 had no sample of their own: by "
               "chance nothing in N stands for their CPU time\n",
               true);
    process->attached_ns = 20000000;
    check_says(
        profile,
        "had no sample of their own: for their CPU time stands 1 sample of 20.0 ms, by chance\n",
        true);
    process->attached_ns = 120000000;
    check_says(
        profile,
        "had no sample of their own: for their CPU time stand 6 samples of 20.0 ms, by chance\n",
        true);
    process->drawn = total >> 10;
    process->varied_total = process->drawn * 9 / 100 * process->drawn / 100; /* 3 % */
    profile->kernel_ns = total / 105 * 100;
    check_says(profile, " it; chance alone may make that difference\n", true);
    check_says(profile, "nobody waited", false);
    process->live = true;
    check_says(profile, " it; N has what still runs, too, which nobody has waited for\n", true);
    process->live = false;
    process->varied_total /= 10000;
    check_says(profile,
               " it; that is more than chance makes of it: N has children that nobody waited for, "
               "too\n",
               true);
    profile->kernel_ns = total / 2 * 3;
    check_says(profile, " it; the rest is in no context: exec, the dynamic loader", true);
    check_says(profile, " or reach hcctd; or chance has left it out\n", true);
    process->forked = process->varied_total = 0;
    process->drawn = 0;
    profile_free(profile);
}

/* Of many modules some have a line, the program first, then what is not followed; one line is of
 * all others. */
static void test_many_modules(void) {
    struct profile *profile = sample_calls();
    char list[4096] = "", *at = list;
    for (int i = 0; i < 12; i++)
        at += sprintf(at, "/lib/lib%d.so,%s,1,1%02d,0,100,100,%d,0,1,2,0,0,0,0,0;", i,
                      i == 5 ? "forbidden" : "followed", i, i == 2 ? 1500 : 0);
    sprintf(at, "/usr/games/game,followed,1,1,0,1,1,0,0,1,0,0,0,0,0,0");
    profile->processes[1].call_modules = list;
    profile->processes[1].exe = "/usr/games/game";
    check_says(profile,
               "\n          game: 1 of 1 direct call is followed; beside them 1 indirect call\n"
               "          lib5.so: the program may not replace its code (seccomp, a policy)\n"
               "          lib11.so: 100 of 111 direct calls are followed; beside them 1 indirect "
               "call, 2 tail jumps\n",
               true);
    check_says(
        profile,
        "\n          6 more modules: 600 of 616 direct calls are followed; some not in their "
        "first 1.5 us, or less\n",
        true);
    profile_free(profile);
}

/* Which calls were counted, and what that says of all. */
static void test_calls(void) {
    struct profile *profile = sample_calls();
    struct profile_process *process = &profile->processes[1];
    check_says(profile, "CPU time", false); /* every call: no time matters */
    check_says(profile, "\nsampling", false);
    check_says(profile,
               "\ncalls     every call is counted; nothing lost; 12 frames left without a return",
               true);
    process->lost = 127;
    check_says(profile, "\ncalls     calls are counted; 127 lost (calls, or", true);
    process->lost = 0;
    process->call_modules = "/game,followed,1,12,3,12,12,0,50,0,0,0,0,0,0,0";
    check_says(profile, "\ncalls     every call that is followed is counted; nothing lost", true);
    process->call_modules = "/lib/libz.so,followed,1,12,3,12,12,1500000,50,0,0,0,0,0,0,0;"
                            "/usr/games/game,limited,1,12,3,12,0,0,50,0,0,0,0,0,0,0";
    process->exe = "/usr/games/game";
    check_says(profile,
               "\ncalls     calls of game itself are not followed: its address space is limited "
               "(ulimit -v)\n          every call that is followed is counted; nothing lost",
               true);
    check_says(profile, "; not followed in its first 1.5 ms\n", true);
    process->call_modules = "/usr/games/game,unsaid,1,12,3,12,0,1500000,50,0,0,0,0,0,0,0";
    check_says(profile, "game: ended before its calls could be followed, after 1.5 ms\n", true);
    check_says(profile, "\ncalls     game ended before its calls could be followed\n", true);
    process->call_modules = "";
    process->every = 100;
    check_says(profile, "\ncalls     one call in 100 is counted, as 100; nothing lost;", true);
    check_says(profile, "\nsampling  95 % intervals: 50 % +-0.1 points", true);
    check_says(profile, "as one sample", false);
    process->every_each = true;
    process->credit = "new";
    check_says(profile, "one call in 100 of each function is counted, as 100, and with it those",
               true);
    check_says(profile, "; nothing lost", true);
    process->lost = 2;
    check_says(profile, "; 2 lost (calls, or beginnings of bursts)", true);
    check_says(profile, "\nsampling", false);
    process->waits = 0;
    check_says(profile, "waited", false);
    process->collector = "";
    check_says(profile, "one call in", false); /* another tool's calls */
    profile_free(profile);

    profile = sample_call_bursts();
    process = &profile->processes[1];
    check_says(profile, " in 200 samples", false);
    check_says(profile, "what one burst sees counts as one sample", true);
    check_says(
        profile,
        "5.6 % of the program's own CPU time was seen; scaled by it, N is about 23,300,000 calls",
        true);
    CHECK(profile_scale(process) == 4000.0 / 225);
    process->stands_ns = 3200000000;
    check_says(profile,
               "5.6 % of the program's own CPU time was seen, in bursts that stand for 80.0 % of "
               "it; scaled to all of it, N is about 1,640,000 calls",
               true);
    CHECK(profile_scale(process) == 1.25);
    process->drawn = 20480; /* in units of 64 calls */
    process->varied_total = 409600;
    check_says(profile, "1,310,713 +-80,281 calls", true);
    process->budget_ppm = 15000;
    process->cost_ns = 36000000;
    process->reading_ns = 20000000;
    check_says(profile,
               "\nbudget    1.5 % of the program's own CPU time; profiling took 1.4 %: 36.0 ms in "
               "its threads, 20.0 ms in hcctd\n",
               true);
    check_says(profile, "each 2.0 ms long, one in 20.0 ms on average", true);
    process->stands_ns = process->drawn = process->varied_total = process->budget_ppm = 0;
    check_says(profile, "\nbudget", false);
    process->seen_ns = 0; /* no burst ended */
    check_says(profile, "was seen", false);
    CHECK(profile_scale(process) == 1);
    process->seen_ns = process->cpu_burst_ns + 1; /* can't be */
    CHECK(profile_scale(process) == 1);
    profile_free(profile);
    profile = profile_new();
    profile->type = "calls";
    profile->unit = "count";
    sample_add(profile, profile_add_process(profile, &(struct profile_process){.command = "x"}),
               "main@x", 1, 0);
    check_says(profile, "x: 1 call\n", true);
    profile_free(profile);
}

int main(void) {
    test_counters();
    test_no_room();
    test_lost_of_wall();
    test_room_for_lost();
    test_left_out();
    test_children();
    test_calls();
    test_many_modules();
    return check_report();
}
