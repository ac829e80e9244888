/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * record_options.c - the options of `hcct record`, what they may be, and which go together.
 */
#include "client/commands/record_options.h"

#include <stdlib.h>
#include <string.h>

#include "common/tree/summary.h"
#include "common/wire/burst.h"
#include "common/wire/call_choice.h"
#include "common/wire/metric.h"
#include "common/wire/percent.h"
#include "common/wire/tags.h"
#include "common/wire/wire.h"

#define RATE_DEFAULT 1000
#define EVERY_MAX    1000000000
#define EXACT_BYTES                                                                                \
    (4ull << 30) /* all contexts are wanted: what a daemon may take is no measure                  \
                  */

static const struct option_spec specs[] = {
    {"pid", 'p', OPTION_STRING, "PID|NAME", offsetof(struct record_options, process), 0, 0,
     "attach to a process that runs already, instead of running a command"},
    {"duration", 0, OPTION_STRING, "TIME", offsetof(struct record_options, duration), 0, 0,
     "with -p: for so long, such as 10s or 2m (until Ctrl-C, or its end)"},
    {"rate", 'F', OPTION_UNSIGNED, "HZ", offsetof(struct record_options, rate), 1, 10000,
     "samples per second of CPU time (1000; within bursts 5000)"},
    {"burst", 0, OPTION_STRING, "LENGTH/PERIOD", offsetof(struct record_options, burst), 0, 0,
     "sample in bursts only, such as 2ms/20ms of CPU time; calls: with ,adaptive or ,adaptive=5% "
     "as few as that error allows"},
    {"budget", 0, OPTION_STRING, "PERCENT", offsetof(struct record_options, budget), 0, 0,
     "calls: bursts so far apart that profiling costs this share of the CPU time, such as 1%"},
    {"clock", 0, OPTION_STRING, "CLOCK", offsetof(struct record_options, clock), 0, 0,
     "cpu; wall: where threads sleep, too (cpu)"},
    {"lines", 0, OPTION_FLAG, NULL, offsetof(struct record_options, lines), 0, 0,
     "self weights by source line, and what is inlined there (--by line implies it)"},
    {"python", 0, OPTION_FLAG, NULL, offsetof(struct record_options, python), 0, 0,
     "functions of Python (3.11 to 3.13) in place of its interpreter's loop"},
    {"threads", 0, OPTION_FLAG, NULL, offsetof(struct record_options, threads), 0, 0,
     "contexts begin with the name of their thread (--by thread implies it)"},
    {"tags", 0, OPTION_STRING, "TAGS", offsetof(struct record_options, tags), 0, 0,
     "KEY=VALUE,KEY=VALUE: tags of this run, in the profile"},
    {"check", 0, OPTION_FLAG, NULL, offsetof(struct record_options, check), 0, 0,
     "walk each stack twice, the second time in full, and count differences"},
    {"collector", 0, OPTION_STRING, "HOW", offsetof(struct record_options, collector), 0, 0,
     "walks: stack samples; encode: these, by open calls that are kept; calls: every call (walks)"},
    {"metric", 0, OPTION_STRING, "WHAT", offsetof(struct record_options, metric), 0, 0,
     "cpu; wait: time off the CPU; lock: for locks; alloc, heap: bytes (all, not freed); faults; "
     "several with commas (cpu)"},
    {"modules", 0, OPTION_STRING, "PATTERNS", offsetof(struct record_options, modules), 0, 0,
     "calls, encode: of which modules, such as 'app,libz*' (all but the C library's)"},
    {"every", 0, OPTION_STRING, "N", offsetof(struct record_options, every), 0, 0,
     "count one call in N; N/routine: one call in N of each function (1)"},
    {"credit", 0, OPTION_STRING, "WHICH", offsetof(struct record_options, credit), 0, 0,
     "with --every: last call, or new: all of its stack since the last one (last)"},
    {"summary", 0, OPTION_STRING, "KIND", offsetof(struct record_options, summary), 0, 0,
     "the algorithm that keeps contexts: filtered-space-saving, exact, ..."},
    {"epsilon", 0, OPTION_FRACTION, "E", offsetof(struct record_options, epsilon), 0, 1,
     "largest error of a count, as a share of the total; below phi"},
    {"memory-limit", 0, OPTION_SIZE, "SIZE", offsetof(struct record_options, memory_limit),
     1u << 20, 1ull << 40,
     "of one process's tree; error bounds grow when it is reached (64M; with --summary exact 4G)"},
    {"trace", 0, OPTION_STRING, "FILE", offsetof(struct record_options, trace), 0, 0,
     "keep the events themselves, too, for hcct replay"},
    VIEW_SPECS(record_options, "the profile (hcct.pb.gz); %p pid, %e command, %h host, %t time"),
    {"open", 0, OPTION_FLAG, NULL, offsetof(struct record_options, open), 0, 0,
     "also write an HTML page of the profile, and open it in the browser"},
    {"no-report", 0, OPTION_FLAG, NULL, offsetof(struct record_options, no_report), 0, 0,
     "only write the profile"},
    {"no-follow", 0, OPTION_FLAG, NULL, offsetof(struct record_options, no_follow), 0, 0,
     "do not profile the command's children"},
    {"no-runtime-names", 0, OPTION_FLAG, NULL, offsetof(struct record_options, no_runtime_names), 0,
     0, "do not have node or java write the names of the code that they generate"},
    {"socket", 0, OPTION_STRING, "PATH", offsetof(struct record_options, socket), 0, 0,
     "use the hcctd that listens there, not a private one"},
    OPTIONS_END,
};

static const struct option_command command = {
    .usage = "hcct record [options] [--] CMD [ARGS...]\n"
             "       hcct record [options] -p PID|NAME [--duration TIME]",
    .about = "Runs CMD with the agent and a private hcctd, writes its profile, and shows its hot\n"
             "calling contexts on stderr. The exit status is CMD's. With -p a process that runs "
             "already\n"
             "is attached to for a while.",
    .examples = "  hcct record -- ./app --its-own options\n"
                "  hcct record -o app-%p.pb.gz --phi 0.01 ./app\n"
                "  hcct record --by line -F 2000 make -j4\n"
                "  hcct record -p 812 --duration 10s\n"
                "  hcct record --metric heap ./app\n"
                "  hcct record --metric cpu,heap,lock ./app    and hcct report --metric heap\n"
                "  hcct record --collector calls --burst 2ms/20ms ./app\n",
    .options = specs,
    .takes_command = true,
};

/* NULL where it is empty, too. */
static const char *environment_word(const char *name) {
    const char *word = getenv(name);
    return word != NULL && word[0] != '\0' ? word : NULL;
}

void record_options_parse(int argc, char **argv, struct record_options *options, int *rest) {
    options_parse(&command, argc, argv, options, rest);
    const char *passed_on = getenv("HCCT_COLLECTOR");
    if (options->collector == NULL && passed_on != NULL &&
        (strcmp(passed_on, "calls") == 0 || strcmp(passed_on, "encode") == 0))
        options->collector = passed_on;
    if (options->metric == NULL && options->collector == NULL)
        options->metric = environment_word("HCCT_METRICS");
    if (options->modules == NULL && (record_counts_calls(options) || record_keeps_calls(options)))
        options->modules = getenv("HCCT_MODULES");
    if (options->budget != NULL && options->burst == NULL && record_counts_calls(options))
        options->burst = PERCENT_BURST;
    if (options->memory_limit == 0 && options->summary != NULL && options->socket == NULL &&
        strcmp(options->summary, "exact") == 0)
        options->memory_limit = EXACT_BYTES;
    if (options->rate == 0 && options->burst == NULL && !record_counts_calls(options) &&
        options->process == NULL && !wire_of_events(record_metric(options)))
        options->rate = RATE_DEFAULT;
    if (options->view.by != NULL && strcmp(options->view.by, "line") == 0 &&
        !record_counts_calls(options) && !wire_of_events(record_metric(options)))
        options->lines = true;
    if (options->view.by != NULL && strcmp(options->view.by, "thread") == 0)
        options->threads = true;
}

void record_metrics(const struct record_options *options, struct metric_list *list) {
    if (options->metric == NULL || metric_list_read(options->metric, list) != NULL)
        (void)metric_list_read("cpu", list);
}

unsigned record_metric(const struct record_options *options) {
    struct metric_list list;
    record_metrics(options, &list);
    return list.metric[list.by_ticks < list.n ? list.by_ticks : 0]->collector;
}

bool record_has(const struct record_options *options, bool (*kind)(uint32_t collector)) {
    struct metric_list list;
    record_metrics(options, &list);
    for (unsigned i = 0; i < list.n; i++)
        if (kind(list.metric[i]->collector))
            return true;
    return false;
}

bool record_samples_waits(const struct record_options *options) {
    struct metric_list list;
    record_metrics(options, &list);
    return list.by_ticks < list.n && list.metric[list.by_ticks]->clock == WIRE_CLOCK_OFF;
}

bool record_counts_calls(const struct record_options *options) {
    return options->collector != NULL && strcmp(options->collector, "calls") == 0;
}

bool record_keeps_calls(const struct record_options *options) {
    return options->collector != NULL && strcmp(options->collector, "encode") == 0;
}

/* ---- values ---- */

/* `words`: those that can be, ended by NULL. */
static bool is_one_of(const char *name, const char *word, const char *const *words) {
    char known[64] = "";
    if (word == NULL)
        return true;
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
        strcat(known, i == 0 ? "" : words[i + 1] != NULL ? ", " : " or ");
        strcat(known, words[i]);
    }
    complain("there is no %s '%s': --%s takes %s", name, word, name, known);
    return false;
}

static bool words_are_known(const struct record_options *options) {
    static const char *const clocks[] = {"cpu", "wall", NULL};
    static const char *const collectors[] = {"walks", "encode", "calls", NULL};
    static const char *const credits[] = {"last", "new", NULL};
    return is_one_of("clock", options->clock, clocks) &&
           is_one_of("collector", options->collector, collectors) &&
           is_one_of("credit", options->credit, credits);
}

static bool metrics_are_some(const char *text) {
    struct metric_list list;
    int length;
    const char *sentence = text != NULL ? metric_list_read(text, &list) : NULL;
    if (sentence == NULL)
        return true;
    const char *unknown = metric_list_unknown(text, &length);
    if (unknown != NULL)
        complain("there is no metric '%.*s': --metric takes %s", length, unknown,
                 METRICS_LIST_EXPECTED);
    else
        complain("--metric %s: %s", text, sentence);
    return false;
}

static bool burst_is_one(const char *text) {
    uint64_t length, period;
    uint32_t error;
    if (text == NULL || burst_parse_adaptive(text, &length, &period, &error))
        return true;
    complain("--burst '%s' is no LENGTH/PERIOD such as 2ms/20ms (100us to 10s, the length not "
             "above the period), nor one with ,adaptive or ,adaptive=5%% behind it",
             text);
    return false;
}

static bool burst_is_adaptive(const char *text) {
    return text != NULL && strchr(text, ',') != NULL;
}

static bool budget_is_one(const char *text) {
    uint32_t ppm;
    if (text == NULL || percent_parse(text, &ppm))
        return true;
    complain("--budget '%s' is not %s", text, PERCENT_EXPECTED);
    return false;
}

static bool tags_are_some(const char *text) {
    if (text == NULL || tags_check(text))
        return true;
    complain("--tags '%s' is not " TAGS_EXPECTED, text);
    return false;
}

static bool modules_are_some(const char *text) {
    if (text == NULL || strlen(text) < CALL_CHOICE_ROOM)
        return true;
    complain("--modules is longer than %u characters", CALL_CHOICE_ROOM - 1);
    return false;
}

static bool every_is_one(const char *text) {
    if (text == NULL)
        return true;
    size_t digits = strspn(text, "0123456789");
    unsigned long n = digits > 0 && digits <= 10 ? strtoul(text, NULL, 10) : 0;
    if (n >= 1 && n <= EVERY_MAX &&
        (text[digits] == '\0' || strcmp(text + digits, "/routine") == 0))
        return true;
    complain("--every '%s' is neither N nor N/routine, such as 100 or 100/routine (N from 1 to %d)",
             text, EVERY_MAX);
    return false;
}

static bool summary_is_known(const char *word) {
    char known[256] = "";
    if (word == NULL || summary_find(word) != NULL)
        return true;
    for (size_t i = 0; summary_kinds[i]->name != NULL; i++) {
        strncat(known, i > 0 ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, summary_kinds[i]->name, sizeof known - strlen(known) - 1);
    }
    complain("there is no algorithm '%s'; there are: %s", word, known);
    return false;
}

/* ---- what goes together ---- */

static bool is_of_faults(uint32_t collector) {
    return collector == WIRE_COLLECT_FAULTS;
}

static bool only_faults(const struct record_options *options) {
    return is_of_faults(record_metric(options));
}

static bool several(const struct record_options *options) {
    struct metric_list list;
    record_metrics(options, &list);
    return list.n > 1;
}

/* What must not be so, and the sentence that says why. */
struct rule {
    bool broken;
    const char *sentence;
};

/* The sentence of the first rule that is broken, or NULL. */
static const char *first_broken(const struct rule *rule, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (rule[i].broken)
            return rule[i].sentence;
    return NULL;
}

static const char *metric_contradicts(const struct record_options *options) {
    bool calls = record_counts_calls(options), events = wire_of_events(record_metric(options));
    const struct rule rules[] = {
        {options->metric != NULL && calls,
         "--metric is for samples: --collector calls counts calls"},
        {events && (options->rate > 0 || options->burst != NULL || options->clock != NULL),
         "--rate, --burst and --clock say when stacks are sampled: allocations are sampled by "
         "their bytes, waits for locks by their length"},
        {record_samples_waits(options) && (options->burst != NULL || options->clock != NULL),
         "--metric wait is of elapsed time less CPU time, at a --rate: it has no --burst and no "
         "--clock"},
        {events && (options->lines || options->check),
         "--lines and --check are for samples of time, not for allocations or locks"},
        {only_faults(options) && (options->lines || options->check || options->python),
         "--lines, --check and --python are for samples of time: name cpu beside faults"},
        {options->python && several(options),
         "--python shows functions for one --metric: record the others in a run of their own"},
        {options->check && record_has(options, wire_of_events),
         "--check is for samples of time alone: record other metrics in a run of their own"},
        {(events || only_faults(options)) && options->trace != NULL,
         "--trace keeps samples of time, or calls: of allocations, locks and faults there is none"},
    };
    return first_broken(rules, HCCT_ARRAY_LEN(rules));
}

static const char *calls_contradict(const struct record_options *options) {
    bool calls = record_counts_calls(options), encode = record_keeps_calls(options);
    const struct rule rules[] = {
        {!calls && options->every != NULL,
         "--every is for --collector calls: samples come by time, see --rate"},
        {!calls && options->credit != NULL,
         "--credit is for --collector calls: a sample weighs the time since the one before"},
        {!calls && !encode && options->modules != NULL,
         "--modules is for --collector calls and encode: stacks are sampled wherever they are"},
        {!calls && options->budget != NULL,
         "--budget is for --collector calls: what samples cost follows from --rate"},
        {!calls && burst_is_adaptive(options->burst),
         "--burst with adaptive is for --collector calls: bursts of samples cost little"},
        {burst_is_adaptive(options->burst) && options->budget != NULL,
         "--budget says what profiling costs, and --burst with adaptive how right it is: one of "
         "them follows from the other"},
        {calls && options->rate > 0 && options->burst == NULL,
         "--rate says how often stacks are sampled, and --collector calls samples none: see "
         "--every and --burst"},
        {calls && options->clock != NULL && strcmp(options->clock, "cpu") != 0,
         "--clock is for samples: --collector calls counts calls, and its bursts are of CPU time"},
        {calls && options->check, "--check is for samples: --collector calls finds contexts by "
                                  "calls and returns"},
        {calls && options->lines,
         "--lines says where samples find a function at work: --collector calls makes none"},
        {calls && options->python,
         "--python is for samples: --collector calls counts calls of the interpreter"},
    };
    return first_broken(rules, HCCT_ARRAY_LEN(rules));
}

static const char *encode_contradicts(const struct record_options *options) {
    bool encode = record_keeps_calls(options);
    const struct rule rules[] = {
        {encode && options->metric != NULL,
         "--metric is for --collector walks: encode samples the time that threads take"},
        {encode && options->python,
         "--python is for --collector walks: encode keeps calls of the interpreter"},
        {encode && options->process != NULL,
         "--collector encode keeps calls from a program's beginning: it does not go with -p"},
    };
    return first_broken(rules, HCCT_ARRAY_LEN(rules));
}

static const char *daemon_contradicts(const struct record_options *options) {
    const struct rule rules[] = {
        {options->duration != NULL && options->process == NULL,
         "--duration is for -p: a command that is run is recorded until its end"},
        {options->trace != NULL && options->socket != NULL,
         "--trace is written by a private hcctd: it does not go with --socket"},
        {options->summary != NULL && options->socket != NULL,
         "--summary is for a private hcctd: one that runs already, --socket, keeps its own"},
        {options->memory_limit != 0 && options->socket != NULL,
         "--memory-limit is for a private hcctd: one that runs already, --socket, keeps its own"},
        {options->trace != NULL && options->view.output != NULL &&
             strcmp(options->trace, options->view.output) == 0,
         "--trace and --output name the same file"},
    };
    return first_broken(rules, HCCT_ARRAY_LEN(rules));
}

/* The sentence about the first options that contradict each other, or NULL. */
static const char *contradiction(const struct record_options *options) {
    const char *sentence = metric_contradicts(options);
    if (sentence == NULL)
        sentence = calls_contradict(options);
    if (sentence == NULL)
        sentence = encode_contradicts(options);
    return sentence != NULL ? sentence : daemon_contradicts(options);
}

bool record_options_agree(const struct record_options *options) {
    if (!words_are_known(options) || !metrics_are_some(options->metric) ||
        !burst_is_one(options->burst) || !budget_is_one(options->budget) ||
        !tags_are_some(options->tags) || !modules_are_some(options->modules) ||
        !every_is_one(options->every) || !summary_is_known(options->summary))
        return false;
    const char *sentence = contradiction(options);
    if (sentence != NULL) {
        complain("%s", sentence);
        return false;
    }
    if (options->epsilon > 0 && options->view.phi > 0 && options->epsilon >= options->view.phi) {
        complain("--epsilon %g must be below --phi %g: an error as large as what is hot tells "
                 "nothing",
                 options->epsilon, options->view.phi);
        return false;
    }
    return true;
}
