/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * sample.c - profiles for the tests: stacks written as text, made into nodes.
 *
 * A stack is frames separated by '/', outermost first. A frame is name[@module][:line][+], where a
 * module that isn't said is the caller's, a line makes it a call site in the function's file, and
 * '+' says that the frame is inlined into the one before. The last frame of a stack is an entry
 * unless it has a line.
 */
#include "tests/report/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/compiler.h"

#define MS 1000000ull

struct stack {
    const char *frames;
    uint64_t count, error;
};

/* A number that depends on the text alone: addresses that look like such. */
static uint64_t spread(const char *text, uint64_t size) {
    uint64_t hash = 1469598103934665603ull;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ull;
    return hash % size;
}

struct frame {
    char name[512], module[512];
    unsigned line;
    bool inlined;
};

static const char *parse_frame(const char *text, struct frame *frame) {
    size_t length = strcspn(text, "/");
    const char *end = text + length;
    char copy[512], *at;

    snprintf(copy, sizeof copy, "%.*s", (int)length, text);
    frame->inlined = length > 0 && copy[length - 1] == '+';
    if (frame->inlined)
        copy[length - 1] = '\0';
    frame->line = 0;
    at = strrchr(copy, ':');
    if (at != NULL && at[1] >= '1' && at[1] <= '9') {
        frame->line = (unsigned)atoi(at + 1);
        *at = '\0';
    }
    at = strrchr(copy, '@');
    if (at != NULL) {
        snprintf(frame->module, sizeof frame->module, "%s", at + 1);
        *at = '\0';
    }
    snprintf(frame->name, sizeof frame->name, "%s", copy);
    return *end == '/' ? end + 1 : end;
}

static uint32_t add_module(struct profile *profile, const char *name) {
    char path[128], build_id[41];
    uint32_t module;
    snprintf(path, sizeof path, strstr(name, ".so") != NULL ? "/usr/lib/%s" : "/usr/bin/%s", name);
    snprintf(build_id, sizeof build_id, "%016llx%016llx%08llx",
             (unsigned long long)spread(name, UINT64_MAX),
             (unsigned long long)spread(path, UINT64_MAX),
             (unsigned long long)spread(name, UINT32_MAX));
    module = profile_add_module(profile, path, build_id);
    profile->modules[module].start = 0x1000;
    profile->modules[module].limit = 0x200000;
    return module;
}

static uint32_t add_function(struct profile *profile, const struct frame *frame) {
    char file[64] = "";
    uint32_t start = (uint32_t)spread(frame->name, 3000) + 1;
    if (frame->line != 0 || spread(frame->name, 3) == 0)
        snprintf(file, sizeof file, "/src/part%u.c", (unsigned)spread(frame->name, 5));
    return profile_add_function(profile, frame->name, frame->name, file, *file != '\0' ? start : 0);
}

static void add_stack(struct profile *profile, uint32_t process, const struct stack *stack) {
    uint32_t node = profile_root(profile, process);
    const char *next = stack->frames;
    struct frame frame = {.module = ""};
    while (*next != '\0') {
        struct profile_line lines[8];
        uint32_t n = 0, location;
        uint64_t place;
        bool more;
        next = parse_frame(next, &frame);
        if (frame.name[0] == '[') {
            node = profile_add_node(profile, node, profile_add_pseudo(profile, frame.name), 0, 0);
            continue;
        }
        place = 0x1000 + spread(frame.name, 0x1f0000) / 16 * 16;
        lines[HCCT_ARRAY_LEN(lines) - ++n] =
            (struct profile_line){add_function(profile, &frame), frame.line};
        more = *next != '\0';
        for (const char *ahead = next; more && n < HCCT_ARRAY_LEN(lines);) {
            struct frame inner = frame;
            ahead = parse_frame(ahead, &inner);
            if (!inner.inlined)
                break;
            lines[HCCT_ARRAY_LEN(lines) - ++n] =
                (struct profile_line){add_function(profile, &inner), inner.line};
            place += spread(inner.name, 8);
            next = ahead;
            more = *next != '\0';
        }
        location = profile_add_location(profile, add_module(profile, frame.module),
                                        more ? place + 1 + frame.line % 15 : place, !more);
        profile_set_lines(profile, location, lines + HCCT_ARRAY_LEN(lines) - n, n);
        node = profile_add_node(profile, node, location, 0, 0);
    }
    profile->nodes[node].count += stack->count;
    profile->nodes[node].error += stack->error;
    profile->nodes[node].counter_error += stack->error;
    profile->processes[process].total += stack->count;
}

void sample_add(struct profile *profile, uint32_t process, const char *frames, uint64_t count,
                uint64_t error) {
    const struct stack stack = {frames, count, error};
    add_stack(profile, process, &stack);
}

static void add_stacks(struct profile *profile, uint32_t process, const struct stack *stacks,
                       size_t n) {
    for (size_t i = 0; i < n; i++)
        add_stack(profile, process, &stacks[i]);
}

static struct profile *begin(void) {
    struct profile *profile = profile_new();
    profile->type = "cpu";
    profile->unit = "nanoseconds";
    profile->summary = profile_string(profile, "lazy-space-saving");
    profile->phi = 0.01;
    profile->epsilon = 0.002;
    profile->period = 1 * MS;
    profile->time_ns = 1700000000000000000ull;
    profile->duration_ns = 13100 * MS;
    return profile;
}

#define SHELL                                                                                      \
    "_start@sqlite3/__libc_start_main@libc.so.6:360/__libc_start_call_main:58/main@sqlite3:26814/" \
    "process_input:24371/runOneSqlLine:24210/"
#define STEP                                                                                       \
    SHELL "shell_exec:18020/exec_prepared_stmt:17500/sqlite3_step@libsqlite3.so.0:90417/"          \
          "sqlite3Step:90100/"
#define PREPARE SHELL "shell_exec:17920/sqlite3_prepare_v2@libsqlite3.so.0:139222/"
#define LOCK    "sqlite3LockAndPrepare:139100/sqlite3Prepare:138900/sqlite3RunParser:177000/"
#define THREAD  "clone3@libc.so.6/start_thread/vdbeSorterFlushThread@libsqlite3.so.0/"

struct profile *sample_shell(void) {
    static const struct stack stacks[] = {
        {STEP "sqlite3VdbeExec", 3412 * MS, 12 * MS},
        {STEP "sqlite3VdbeExec:94001/sqlite3BtreeIndexMoveto:73100/sqlite3VdbeRecordCompare"
              "WithSkip:90800/sqlite3VdbeSerialGet:90200+/memcmp@libc.so.6",
         1204 * MS, 9 * MS},
        {STEP "sqlite3VdbeExec:94001/sqlite3BtreeIndexMoveto:73100/sqlite3VdbeRecordCompare"
              "WithSkip",
         845 * MS, 9 * MS},
        {STEP "sqlite3VdbeExec:94001/sqlite3BtreeIndexMoveto", 401 * MS, 3 * MS},
        {STEP "sqlite3VdbeExec:94010/sqlite3BtreeIndexMoveto:73188/moveToChild:72001/"
              "getAndInitPage:70100/sqlite3PagerGet:61000/getPageNormal:60700/sqlite3PcacheFetch",
         377 * MS, 2 * MS},
        {STEP "sqlite3VdbeExec:94010/sqlite3BtreeIndexMoveto:73188/moveToChild:72001/"
              "getAndInitPage:70100/sqlite3PagerGet:61000/getPageNormal:60710/readDbPage:56100/"
              "sqlite3OsRead:24100/unixRead:38100/seekAndRead:38000/pread64@libc.so.6",
         611 * MS, 2 * MS},
        {STEP "sqlite3VdbeExec:95200/sqlite3BtreeNext:74010/btreeNext:73900", 212 * MS, 4 * MS},
        {STEP "sqlite3VdbeExec:96100/sqlite3VdbeSorterWrite:101200/vdbeSorterSort:100500/"
              "vdbeSorterMerge:100300/vdbeSorterCompare:99800/sqlite3VdbeRecordCompareWithSkip",
         455 * MS, 3 * MS},
        {STEP "sqlite3VdbeExec:96100/sqlite3VdbeSorterWrite", 48 * MS, 3 * MS},
        {STEP
         "sqlite3VdbeExec:96330/sqlite3VdbeMemGrow:78000/sqlite3Realloc:31100/realloc@libc.so.6"
         "/_int_realloc",
         95 * MS, 3 * MS},
        {STEP "sqlite3VdbeExec:96331/sqlite3VdbeMemShallowCopy", 31 * MS, 3 * MS},
        {STEP "sqlite3VdbeExec:96332/sqlite3VdbeSerialPut", 28 * MS, 2 * MS},
        {STEP "sqlite3VdbeExec:96333/out2Prerelease", 22 * MS, 2 * MS},
        {STEP "sqlite3VdbeExec:96500/[~]", 119 * MS, 40 * MS},
        {PREPARE LOCK "yy_reduce:174200/sqlite3Select:146000/sqlite3WhereBegin:167000/"
                      "whereLoopAddAll:160100/whereLoopAddBtree:159200",
         188 * MS, 2 * MS},
        {PREPARE LOCK "yy_reduce:174200/sqlite3Select:146100/sqlite3ExprCodeTarget", 54 * MS,
         2 * MS},
        {PREPARE LOCK "sqlite3GetToken", 61 * MS, 2 * MS},
        {PREPARE LOCK "yy_find_shift_action", 17 * MS, 2 * MS},
        {SHELL "shell_exec:18100/exec_prepared_stmt:17520/shell_callback:15200/utf8_printf:3000/"
               "vfprintf@libc.so.6:1200/__vfprintf_internal/_IO_file_xsputn",
         240 * MS, 2 * MS},
        {SHELL "shell_exec:18100/exec_prepared_stmt:17520/shell_callback:15200/utf8_printf:3000/"
               "vfprintf@libc.so.6:1200/__vfprintf_internal",
         131 * MS, 2 * MS},
        {"_start@sqlite3/__libc_start_main@libc.so.6:360/__libc_start_call_main:58/main@sqlite3:"
         "26815/process_input:24300/local_getline:700/fgets@libc.so.6",
         43 * MS, 1 * MS},
        {THREAD "vdbePMAWrite", 72 * MS, 4 * MS},
        {THREAD "vdbeSorterSort:100500/vdbeSorterMerge:100300/vdbeSorterCompare:99800/"
                "sqlite3VdbeRecordCompareWithSkip",
         903 * MS, 5 * MS},
        {"[no unwind rule]/lz4_decompress_fast@lz4.so", 66 * MS, 1 * MS},
        {"[no unwind rule]/lz4.so+0x1a20@lz4.so", 5 * MS, 1 * MS},
    };
    struct profile *profile = begin();
    struct profile_process process = {.exe = "/usr/bin/sqlite3",
                                      .command = "sqlite3",
                                      .pid = 812,
                                      .runs = 1,
                                      .cpu_ns = 9651 * MS,
                                      .walks = 9633,
                                      .complete = 9562,
                                      .no_rule = 65,
                                      .bad_stack = 6,
                                      .deferred = 3,
                                      .handler_ns = 39 * MS,
                                      .contexts = 1204,
                                      .monitored = 871,
                                      .unseen = 2 * MS,
                                      .bytes = 46182,
                                      .threads = 3};

    add_stacks(profile, profile_add_process(profile, &process), stacks, HCCT_ARRAY_LEN(stacks));
    return profile;
}

#define CC1 "_start@cc1/__libc_start_main@libc.so.6/main@cc1/toplev::main/"
#define PASS                                                                                       \
    CC1 "compile_file/symbol_table::finalize_compilation_unit/symbol_table::compile/"              \
        "expand_all_functions/cgraph_node::expand/execute_pass_list/"

struct profile *sample_build(void) {
    static const struct stack cc1[] = {
        {PASS "execute_one_pass/(anonymous namespace)::pass_ira::execute/ira", 1800 * MS, 10 * MS},
        {PASS "execute_one_pass/(anonymous namespace)::pass_ira::execute/ira/ira_build", 700 * MS,
         10 * MS},
        {PASS
         "execute_one_pass/execute_pass_list_1/execute_one_pass/(anonymous namespace)::pass_pre"
         "::execute/compute_avail/vn_nary_op_lookup",
         2100 * MS, 5 * MS},
        {PASS
         "execute_one_pass/execute_pass_list_1/execute_one_pass/hash_table<default_hash_traits<"
         "std::pair<tree_node*, std::vector<int, std::allocator<int> > > >, false, xcallocator>"
         "::find_slot_with_hash(std::pair<tree_node*, std::vector<int, std::allocator<int> > > "
         "const&, unsigned int, insert_option)",
         900 * MS, 5 * MS},
        {CC1 "compile_file/c_common_parse_file/c_parser_translation_unit/c_parser_declaration",
         5200 * MS, 20 * MS},
        {CC1 "compile_file/c_common_parse_file/c_parser_translation_unit/c_parser_declaration/"
             "c_parser_compound_statement/c_parser_compound_statement/c_lex_one_token/"
             "_cpp_lex_direct",
         3100 * MS, 20 * MS},
        {CC1 "compile_file/[~]", 2210 * MS, 400 * MS},
    };
    static const struct stack as[] = {
        {"_start@as/__libc_start_main@libc.so.6/main@as/perform_an_assembly_pass/"
         "read_a_source_file/md_assemble",
         900 * MS, 1 * MS},
        {"_start@as/__libc_start_main@libc.so.6/main@as/write_object_file/bfd_close@libbfd.so",
         400 * MS, 1 * MS},
    };
    static const struct stack gcc[] = {
        {"_start@gcc/__libc_start_main@libc.so.6/main@gcc/do_spec/execute/pex_run", 60 * MS, 0}};
    struct profile *profile = begin();
    struct profile_process processes[] = {
        {.exe = "/usr/libexec/cc1",
         .command = "cc1",
         .runs = 48,
         .cpu_ns = 16100 * MS,
         .walks = 16010,
         .complete = 16010,
         .contexts = 2011,
         .bytes = 70112,
         .unseen = 3 * MS},
        {.exe = "/usr/bin/as",
         .command = "as",
         .runs = 48,
         .cpu_ns = 1300 * MS,
         .walks = 1300,
         .complete = 1299,
         .truncated = 1,
         .contexts = 210,
         .bytes = 9112},
        {.exe = "/usr/bin/gcc",
         .command = "gcc",
         .pid = 4711,
         .runs = 1,
         .live = true,
         .cpu_ns = 60 * MS,
         .walks = 60,
         .complete = 60,
         .contexts = 12,
         .bytes = 800},
    };

    add_stacks(profile, profile_add_process(profile, &processes[0]), cc1, HCCT_ARRAY_LEN(cc1));
    add_stacks(profile, profile_add_process(profile, &processes[1]), as, HCCT_ARRAY_LEN(as));
    add_stacks(profile, profile_add_process(profile, &processes[2]), gcc, HCCT_ARRAY_LEN(gcc));
    return profile;
}

struct profile *sample_names(void) {
    static const struct stack stacks[] = {
        {"main@my app; v2/say \"hello\" \\ bye/a name with spaces 12", 100, 1},
        {"main@my app; v2/<alloc::vec::Vec<[u8; 16]> as core::iter::Extend<T>>::extend", 50, 0},
        {"main@my app; v2/naïve_größe/日本語の関数", 30, 0},
        {"main@my app; v2/line\nbreak\ttab/\033[31mred", 20, 0},
        {"main@my app; v2/void std::__invoke_impl<void, std::_Bind<void "
         "(*(std::shared_ptr<Session>, "
         "std::function<void (std::map<std::string, std::vector<std::pair<int, double> > > "
         "const&)>))"
         "(std::shared_ptr<Session>)>&, int>(std::__invoke_other, std::_Bind<void ()>&, int&&)",
         10, 0},
        {"main@my app; v2/operator<</bool operator<=><int>(int, int)/(anonymous namespace)::f(int)",
         5, 0},
        {"main@my app; v2/not\xff\xfeutf8\xc3", 4, 0},
        {"[truncated]/main@my app; v2", 3, 0},
    };
    struct profile *profile = begin();
    struct profile_process process = {
        .exe = "/opt/my app; v2", .command = "my app; v2", .pid = 7, .runs = 1};

    profile->type = "calls";
    profile->unit = "count";
    profile->period = 0;
    add_stacks(profile, profile_add_process(profile, &process), stacks, HCCT_ARRAY_LEN(stacks));
    return profile;
}

#define ENTRY  "app+0x1a780@app/__libc_start_main@libc.so.6/app+0x12a0@app/app+0x2f20/"
#define ENGINE ENTRY "engine_step@libengine.so/"

struct profile *sample_stripped(void) {
    static const struct stack stacks[] = {
        /* 0.9 % is lost in two steps before engine_step, which keep the row whole */
        {ENTRY "app+0x3000", 50 * MS, 0},
        {"app+0x1a780@app/__libc_start_main@libc.so.6/exit", 40 * MS, 0},
        {ENGINE "libengine.so+0x4410/libengine.so+0x5520", 3000 * MS, 0},
        {ENGINE "libengine.so+0x4410/libengine.so+0x5520/memcpy@libc.so.6", 2000 * MS, 0},
        {ENGINE "libengine.so+0x4410/memcpy@libc.so.6", 1000 * MS, 0},
        /* 0.9 % is lost, but not at once: the row is parted where it becomes 1.2 % */
        {ENGINE "sort", 60 * MS, 0},
        {ENGINE "sort/libengine.so+0x6600", 30 * MS, 0},
        {ENGINE "sort/libengine.so+0x6600/libengine.so+0x6700", 30 * MS, 0},
        {ENGINE "sort/libengine.so+0x6600/libengine.so+0x6700/libengine.so+0x6800", 1500 * MS, 0},
        /* much in small pieces, and little */
        {ENGINE "parse/a", 70 * MS, 0},
        {ENGINE "parse/b", 60 * MS, 0},
        {ENGINE "parse/c", 60 * MS, 0},
        {ENGINE "parse/main@app", 1000 * MS, 0},
        {ENGINE "print", 900 * MS, 0},
        {ENGINE "print/d", 99 * MS, 0},
        /* a callback: the module changes twice */
        {ENGINE "app+0x7000@app/app+0x7100/libengine.so+0x8800@libengine.so", 101 * MS, 0},
    };
    struct profile *profile = begin();
    struct profile_process process = {
        .exe = "/usr/bin/app", .command = "app", .pid = 31, .runs = 1, .unseen = 1 * MS};

    profile->epsilon = 0.00002;
    add_stacks(profile, profile_add_process(profile, &process), stacks, HCCT_ARRAY_LEN(stacks));
    return profile;
}

struct profile *sample_none(void) {
    return begin();
}

struct profile *sample_empty(void) {
    struct profile *profile = begin();
    struct profile_process process = {
        .exe = "/usr/bin/sleep", .command = "sleep", .pid = 9, .runs = 1};

    profile_add_process(profile, &process);
    return profile;
}

struct profile *sample_deep(uint32_t depth) {
    struct profile *profile = begin();
    struct profile_process process = {.exe = "/bin/deep", .command = "deep", .runs = 1};
    uint32_t module = add_module(profile, "deep");
    struct profile_line line = {.line = 3};
    uint32_t node = profile_root(profile, profile_add_process(profile, &process));

    line.function = profile_add_function(profile, "descend", "descend", "/src/deep.c", 1);
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t location = profile_add_location(profile, module, 0x2000 + i % 7, false);
        profile_set_lines(profile, location, &line, 1);
        node = profile_add_node(profile, node, location, i % 1000 == 0, 0);
    }
    profile->nodes[node].count += 1000;
    profile->processes[1].total = profile_total(profile);
    return profile;
}

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

struct profile *sample_random(uint64_t seed) {
    struct profile *profile = begin();
    uint64_t state = seed * 2654435761u + 1;
    uint32_t n_nodes = (uint32_t)(draw(&state) % 200);

    for (uint32_t i = 0; i < 1 + seed % 3; i++) {
        struct profile_process process = {
            .exe = "/bin/app", .command = i == 2 ? "other" : "app", .runs = 1};
        profile_add_process(profile, &process);
    }
    for (uint32_t i = 0; i < n_nodes; i++) {
        uint32_t parent = 1 + (uint32_t)(draw(&state) % (profile->n_nodes - 1));
        char name[32], module[32];
        struct profile_line lines[3];
        uint32_t n = (uint32_t)(draw(&state) % 4), location;
        uint64_t count = draw(&state) % 3 == 0 ? draw(&state) % 1000000 : 0;
        for (uint32_t k = 0; k < n; k++) {
            snprintf(name, sizeof name, "f%u", (unsigned)(draw(&state) % 20));
            lines[k] = (struct profile_line){
                profile_add_function(profile, name, name, draw(&state) % 2 ? "/x/a.c" : "", 5),
                (uint32_t)(draw(&state) % 50)};
        }
        snprintf(module, sizeof module, "m%u.so", (unsigned)(draw(&state) % 4));
        if (draw(&state) % 12 == 0)
            location = profile_add_pseudo(profile, draw(&state) % 2 ? PROFILE_PRUNED : "[mark]");
        else
            location = profile_add_location(profile,
                                            draw(&state) % 9 == 0 ? 0 : add_module(profile, module),
                                            0x1000 + draw(&state) % 300, draw(&state) % 2);
        if (profile->locations[location].n_lines == 0)
            profile_set_lines(profile, location, lines, n);
        parent = profile_add_node(profile, parent, location, count, count / 7);
        profile->processes[profile->nodes[parent].process].total += count;
    }
    return profile;
}
