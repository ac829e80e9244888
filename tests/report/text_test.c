/*
 * text_test.c - the text report: golden files, and what must hold of any report.
 *
 * A golden file is written anew by running this test with HCCT_GOLDEN=write; look at the difference
 * before you keep it.
 */
#include "tests/check.h"

#include <locale.h>

#include "daemon/report/format.h"
#include "tests/report/sample.h"

static char *report(const struct profile *profile, const struct format_options *options) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CHECK(write_text(out, profile, options));
    fclose(out);
    return text;
}

static char *read_all(const char *path) {
    char *text = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "r");

    if (in == NULL)
        return NULL;
    if (getdelim(&text, &room, '\0', in) < 0) {
        free(text);
        text = NULL;
    }
    fclose(in);
    return text;
}

static void golden(const char *name, struct profile *profile,
                   const struct format_options *options) {
    const char *source = getenv("srcdir"), *mode = getenv("HCCT_GOLDEN");
    char *text = report(profile, options), path[512], *want;

    snprintf(path, sizeof(path), "%s/tests/report/golden/%s.txt", source != NULL ? source : ".",
             name);
    if (mode != NULL && strcmp(mode, "write") == 0) {
        FILE *out = fopen(path, "w");

        CHECK(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
    }
    want = read_all(path);
    CHECK_STR(text, want != NULL ? want : path);
    free(want);
    free(text);
    profile_free(profile);
}

static void test_golden(bool utf8) {
    struct format_options options = format_default_options;

    golden("shell-ascii", sample_shell(), &options);
    if (!utf8 || setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return;
    golden("shell", sample_shell(), &options);
    golden("build", sample_build(), &options);
    golden("stripped", sample_stripped(), &options);
    golden("calls", sample_calls(), &options);
    golden("call-bursts", sample_call_bursts(), &options);
    options.width = 90;
    golden("calls-narrow", sample_calls(), &options);
    options.width = 97;
    golden("names", sample_names(), &options);
    options.width = 90;
    options.by = PROFILE_BY_LINE;
    golden("shell-line", sample_shell(), &options);
    options = format_default_options;
    options.color = true;
    options.n = 4;
    options.by = PROFILE_BY_SITE;
    golden("shell-color", sample_shell(), &options);
    options = format_default_options;
    options.cut = 0.02;
    golden("deep", sample_deep(100000), &options);
    options.by = PROFILE_BY_MODULE;
    golden("shell-module", sample_shell(), &options);
    setlocale(LC_CTYPE, "C");
}

static void test_empty(void) {
    struct profile *profile = sample_empty(), *none = profile_new();
    char *text = report(profile, &format_default_options);

    CHECK_STR(text, "Nothing to show: sleep (pid 9) used too little CPU time to be sampled.\n");
    free(text);
    profile->processes[1].lost = 1200;
    text = report(profile, &format_default_options);
    CHECK_STR(text, "Nothing to show: sleep (pid 9) used too little CPU time to be sampled "
                    "(1,200 ticks were lost).\n");
    free(text);
    text = report(none, &format_default_options);
    CHECK_STR(text, "Nothing to show: no process was profiled.\n");
    free(text);
    profile_free(none);
    profile_free(profile);
}

static void check_says(struct profile *profile, const char *line, bool says) {
    char *text = report(profile, &format_default_options);
    CHECK((strstr(text, line) != NULL) == says);
    if ((strstr(text, line) != NULL) != says)
        fprintf(stderr, "%s: \"%s\"\n", says ? "not there" : "there", line);
    free(text);
}

/* Lines that stand there only when there is something to say. */
static void test_counters(void) {
    struct profile *profile = sample_shell();
    struct profile_process *process = &profile->processes[1];
    check_says(profile, "made twice", false);
    check_says(profile, "bursts", false);
    check_says(profile, " s of CPU time in 9,633 walks", true);
    check_says(profile, "a share of 50 % is good to +-1.0 points", true);
    process->checked = 9000;
    process->different = 2;
    process->refused = 1;
    check_says(profile, "\ncheck     9,000 walks made twice, 2 differ\n", true);
    check_says(profile, "3 stacks sent as copies and unwound by the daemon (1 in vain)\n", true);
    process->bursts = 1;
    check_says(profile, "bursts", false); /* one without end is none */
    process->bursts = 100;
    process->burst_length_ns = 2000000;
    process->burst_period_ns = 20000000;
    check_says(profile, "\nbursts    100, each 2.0 ms long, one in 20.0 ms\n", true);
    check_says(profile, "a share of 50 % is good to +-9.8 points", true);
    profile->type = "wall";
    check_says(profile, " s of wall-clock time in 9,633 walks", true);
    profile_free(profile);
    profile = sample_empty();
    profile->type = "wall";
    check_says(profile, "was gone before the first look at it.\n", true);
    profile->type = "calls";
    profile->unit = "count";
    check_says(profile, "Nothing to show: sleep (pid 9) called no instrumented function.\n", true);
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
    process->every = 100;
    check_says(profile, "\ncalls     one call in 100 is counted, as 100; nothing lost;", true);
    check_says(profile, "\nsampling  a share of 50 % is good to +-0.1 points", true);
    check_says(profile, "as one look", false);
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
    check_says(profile, " in 200 walks", false);
    check_says(profile, "each burst taken as one look", true);
    check_says(profile, "5.6 % of the CPU time was seen; scaled by it, N is about 23,300,000 calls",
               true);
    CHECK(profile_scale(process) == 4000.0 / 225);
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

/* No line ends with a space, no control character, no escape without colour; own shares of the
 * table add up to 100 %; no row of a tree weighs less than the cut. */
static void check_lines(char *text, double cut) {
    bool in_table = false, in_tree = false;
    double sum = 0;
    int rows = 0;

    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t length = strlen(line);
        char share[8] = "";

        CHECK(length > 0 && line[length - 1] != ' ');
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
                CHECK(!"a control character");
        if (strncmp(line, "Hottest", 7) == 0)
            in_table = true;
        else if (strncmp(line, "Hot contexts", 12) == 0 || strstr(line, ": ") != NULL)
            in_table = false;
        if (in_table || line[0] == 'N' || strstr(line, ": ") != NULL)
            in_tree = false;
        else if (strncmp(line, "Hot contexts", 12) == 0)
            in_tree = true;
        if (in_tree && length > 6 && line[6] == '%')
            CHECK(atof(line) > cut * 100 - 0.051);
        if (in_table && length > 16) {
            memcpy(share, line + 9, 7);
            rows += atof(share) > 0;
            sum += atof(share);
        }
    }
    CHECK(sum > 100 - 0.051 * (rows + 1) && sum < 100 + 0.051 * (rows + 1));
}

static unsigned count_lines(const char *text) {
    unsigned lines = 0;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

static void test_any(void) {
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct profile *profile = seed == 0 ? sample_names() : sample_random(seed);
        struct format_options options = {.by = (enum profile_by)(seed % 4),
                                         .cut = (double)(seed % 3) / 100,
                                         .top = 1 + (unsigned)seed % 12,
                                         .width = (unsigned)(seed % 5) * 30};
        char *text = report(profile, &options);

        if (options.cut == FORMAT_DEFAULT_CUT && (options.width == 0 || options.width > 80))
            CHECK(count_lines(text) <= 50); /* nobody has said what is to be cut */
        if (profile_total(profile) > 0)
            check_lines(text, options.cut);
        free(text);
        profile_free(profile);
    }
}

int main(void) {
    test_golden(setlocale(LC_CTYPE, "C.UTF-8") != NULL && setlocale(LC_CTYPE, "C") != NULL);
    test_empty();
    test_counters();
    test_calls();
    test_any();
    return check_report();
}
