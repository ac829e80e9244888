/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * demangle_test.c - names as compilers write them, names that only look like it, and hostile ones.
 */
#include "common/code/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/wire/compiler.h"
#include "tests/check.h"

static const char *const pairs[][2] = {
    {"main", "main"},
    {"memcpy@@GLIBC_2.14", "memcpy"},
    {"f.cold", "f"},
    {"f.part.0", "f"},
    {"f.constprop.0.isra.0", "f"},
    {"f.part.0.cold", "f"},
    {"f.0", "f.0"},
    {".hidden", ".hidden"},
    {"f.other", "f.other"},
    {"", ""},
    /* C++ */
    {"_Z1fi", "f(int)"},
    {"_Z1fi.cold", "f(int)"},
    {"_ZN3foo3barEv.constprop.0", "foo::bar()"},
    {"_ZN3foo3barEv.isra.0.part.1.cold", "foo::bar()"},
    {"_Z1fi.avx2", "f(int) [clone .avx2]"},
    {"_Z4workPvS_._omp_fn.0", "work(void*, void*) [clone ._omp_fn.0]"},
    {"_ZNSt6vectorIiSaIiEE9push_backERKi",
     "std::vector<int, std::allocator<int> >::push_back(int const&)"},
    {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
    {"_Znonsense", "_Znonsense"},
    {"_Z", "_Z"},
    {"_", "_"},
    /* Rust */
    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.123456", "core::fmt::Write::write_fmt"},
    {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h"
     "930b740aa94f1d3aE",
     "<Test + 'static as foo::Bar<Test>>::bar"},
    {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
    {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
    {"_Rubbish", "_Rubbish"},
    /* D */
    {"_Dmain", "D main"},
    {"_D3std5stdio4File5flushMFNeZv", "std.stdio.File.flush()"},
    {"_D1t__T4workTiZQiFiZi", "t.work!(int).work(int)"},
    {"_Dynamic", "_Dynamic"},
    {"_D3foo", "_D3foo"},
    /* OCaml */
    {"camlStdlib__List__map_236", "Stdlib.List.map"},
    {"camlStdlib__List.map_236", "Stdlib.List.map"},
    {"camlPack.Sub.f_1", "Pack.Sub.f"},
    {"camlStdlib__$5e_140", "Stdlib.^"},
    {"camlT__$2b$7e_84", "T.+~"},
    {"camlT__deep$27_81", "T.deep'"},
    {"camlT.deep$27_81", "T.deep'"},
    {"camlT__fun_164", "T.fun_164"},
    {"camlT.fun_164", "T.fun_164"},
    {"camlT__fun_maker_164", "T.fun_maker"},
    {"camlT__a__b_3", "T.a__b"},
    {"camlT__x_1_2", "T.x_1"},
    {"camlT___unused_2", "T._unused"},
    {"camlDune__exe__Main__run_12", "Dune.exe.Main.run"},
    {"camlDune__exe__Main.run_12", "Dune.exe.Main.run"},
    {"camlT__entry", "T.entry"},
    {"camlT.entry", "T.entry"},
    /* what only begins like it */
    {"caml_alloc", "caml_alloc"},
    {"caml_apply2", "caml_apply2"},
    {"caml_startup__code_begin", "caml_startup__code_begin"},
    {"caml", "caml"},
    {"camlT", "camlT"},
    {"camlT__", "camlT__"},
    {"camlT__f", "camlT__f"},
    {"camlT__12", "camlT__12"},
    {"camlT___12", "camlT___12"},
    {"camlT__F_12", "camlT__F_12"},
    {"camlT_f_12", "camlT_f_12"},
    {"camlt__f_12", "camlt__f_12"},
    {"camlinit_once", "camlinit_once"},
    {"camlToolkit_init_2", "camlToolkit_init_2"},
    {"camlT__f-g_12", "camlT__f-g_12"},
    {"camlT__$0a_12", "camlT__$0a_12"},
    {"camlT__$5_12", "camlT__$5_12"},
    {"camlT__$zz_12", "camlT__$zz_12"},
    /* Haskell */
    {"containerszm0zi6zi4zi1_DataziMapziInternal_balanceR_info", "Data.Map.Internal.balanceR"},
    {"base_GHCziIOziFD_zdwzdcseek_info", "GHC.IO.FD.$w$cseek"},
    {"base_GHCziIOziHandleziInternals_hLookAheadzu3_info", "GHC.IO.Handle.Internals.hLookAhead_3"},
    {"ghczmprim_GHCziTypes_True_con_info", "GHC.Types.True"},
    {"ghczmprim_GHCziTuple_Z2T_con_info", "GHC.Tuple.(,)"},
    {"textzm2zi0zi2_Text_appendzq_info", "Text.append'"},
    {"base_GHCziBase_zpzp_info", "GHC.Base.++"},
    {"base_GHCziBase_ZCzb_con_entry", "GHC.Base.:|"},
    {"DataziOwn_f_info", "Data.Own.f"},
    {"Main_zdwzdsgo8_slow", "Main.$w$sgo8"},
    {"ZCMain_main_info", ":Main.main"},
    /* what only looks like it */
    {"Widget_get_info", "Widget_get_info"},
    {"gtk_Widget_resize_info", "gtk_Widget_resize_info"},
    {"Main_info", "Main_info"},
    {"Main__info", "Main__info"},
    {"stg_ap_v_info", "stg_ap_v_info"},
    {"_info", "_info"},
    {"base_GHCziIO_f", "base_GHCziIO_f"},
    {"base_GHCzi_f_info", "base_GHCzi_f_info"},
    {"base_GHCziIO_zy_info", "base_GHCziIO_zy_info"},
    {"base_GHCziIO_z_info", "base_GHCziIO_z_info"},
    {"base_GHCziIO_Z_info", "base_GHCziIO_Z_info"},
    {"a_b_GHCziIO_f_info", "a_b_GHCziIO_f_info"},
};

static void test_pairs(void) {
    for (size_t i = 0; i < HCCT_ARRAY_LEN(pairs); i++) {
        char *name = demangle(pairs[i][0]);
        CHECK_STR(name, pairs[i][1]);
        free(name);
    }
}

/* ---- hostile names ---- */

/* `head`, then `times` times `part`, then `tail`; malloc'ed. */
static char *repeat(const char *head, const char *part, size_t times, const char *tail) {
    size_t n = strlen(part);
    char *name = malloc(strlen(head) + n * times + strlen(tail) + 1);
    char *to = stpcpy(name, head);
    for (size_t i = 0; i < times; i++)
        to = mempcpy(to, part, n);
    strcpy(to, tail);
    return name;
}

/* Any answer of the promised length is right, when it comes. */
static void check_short(char *name) {
    char *readable = demangle(name);
    CHECK(readable != NULL && strlen(readable) <= DEMANGLE_NAME_MAX);
    free(readable);
    free(name);
}

/* Each parameter is a pair of the one before twice: 2^n words. */
static char *doubled_cxx(unsigned n) {
    char *name = malloc(64 + 16 * n), *to = stpcpy(name, "_Z1f1a1bIS_S_E");
    for (unsigned i = 0; i < n; i++) { /* S0_ is b, and S1_ the first b<a, a> */
        const char last = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[1 + i % 30];
        to += sprintf(to, "S0_IS%c_S%c_E", last, last);
    }
    return name;
}

/* Likewise: tuples of two. A distance is from the Q to what it repeats, in letters from a on. */
static char *doubled_d(unsigned n) {
    char *name = malloc(64 + 16 * n), *to = stpcpy(name, "_D1fFB2ii");
    for (unsigned i = 0; i < n; i++)
        to = stpcpy(to, i == 0 ? "B2QgQi" : "B2QiQk");
    strcpy(to, "Zv");
    return name;
}

static void put_base_62(char *to, size_t number) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char text[8] = "_";
    for (size_t n = number; n > 0; n = n > 62 ? (n - 1) / 62 : 0) {
        memmove(text + 1, text, strlen(text) + 1);
        text[0] = digits[(n - 1) % 62];
    }
    strcpy(to, text);
}

/* Likewise. B and a number repeat what stands there, counted from behind the "_R". */
static char *doubled_rust(unsigned n) {
    char *name = malloc(64 + 24 * n), *to = stpcpy(name, "_RINvC1a1fTllE"), back[16] = "B";
    size_t last = 8;
    for (unsigned i = 0; i < n; i++) {
        size_t here = (size_t)(to - name) - 2;
        put_base_62(back + 1, last);
        to += sprintf(to, "T%s%sE", back, back);
        last = here;
    }
    strcpy(to, "E");
    return name;
}

static void test_hostile(void) {
    static const char *const deep[][3] = {
        {"_Z1f", "P", "i"},
        {"_Z1f", "PF", "vvE"},
        {"_Z1f", "1aI", "iE"},
        {"_Z1fIXng", "ng", "1xEEvv"},
        {"_Z1fIX", "pl", "1xEEvv"},
        {"_ZN", "1a", "E"},
        {"_Z", "Z1f", "E"},
        {"_Z1fI", "J", "E"},
        {"_Z1fDT", "cl", "E"},
        {"_Z1f", "DpT_", "i"},
        {"_Z1fIX", "cvPi", "1xEE"},
        {"_Z1f", "M1a", "i"},
        {"_RC", "Y", "E"},
        {"_RINvC1a1f", "R", "lE"},
        {"_RINvC1a1f", "T", "E"},
        {"_RNvC1a", "Nv", "1f"},
        {"_D1f", "P", "i"},
        {"_D1fF", "A", "iZv"},
        {"_D1f", "__T", "Z"},
        {"_D", "1a", "FZv"},
        {"_D1fF", "B1", "iZv"},
        {"camlA", "__B", "__f_1"},
        {"camlA__", "$2b", "_1"},
        {"camlA__f", "_1", ""},
        {"f", ".part.0", ""},
        {"f", ".", ""},
        {"", "@", ""},
    };
    static const size_t times[] = {100, 1000, 1300, 2600, 4000, 8000, 1u << 20};
    for (size_t i = 0; i < HCCT_ARRAY_LEN(deep); i++)
        for (size_t k = 0; k < HCCT_ARRAY_LEN(times); k++)
            check_short(repeat(deep[i][0], deep[i][1], times[k], deep[i][2]));
    for (unsigned n = 1; n <= 500; n += n < 40 ? 1 : 100) {
        check_short(doubled_cxx(n));
        check_short(doubled_d(n));
        check_short(doubled_rust(n));
    }
}

static void test_long(void) {
    char *name = repeat("", "x", 100000, ""), *readable = demangle(name);
    CHECK_UINT(strlen(readable), DEMANGLE_NAME_MAX);
    free(readable);
    free(name);
    /* longer than libiberty takes by itself */
    name = repeat("_Z1f", "M1aM1b", 400, "i");
    readable = demangle(name);
    CHECK(strncmp(readable, "f(int ", 6) == 0);
    free(readable);
    free(name);
    name = doubled_rust(40);
    readable = demangle(name);
    CHECK_UINT(strlen(readable), DEMANGLE_NAME_MAX);
    CHECK(strncmp(readable, "a::f::<(i32, i32), ((i32, i32), (i32, i32)), (((", 40) == 0);
    free(readable);
    free(name);
    name = doubled_d(1);
    readable = demangle(name);
    CHECK(strncmp(readable, "f(", 2) == 0);
    free(readable);
    free(name);
    name = doubled_d(100); /* of 2^100 words: as it is */
    readable = demangle(name);
    CHECK_STR(readable, name);
    free(readable);
    free(name);
    name = doubled_cxx(30);
    readable = demangle(name);
    CHECK_UINT(strlen(readable), DEMANGLE_NAME_MAX);
    CHECK(strncmp(readable, "f(a, b<a, a>, b<", 16) == 0);
    free(readable);
    free(name);
}

int main(void) {
    struct rlimit limit = {8u << 20, 8u << 20}; /* as the worker has it */
    struct rusage used;
    setrlimit(RLIMIT_STACK, &limit);
    test_pairs();
    test_long();
    test_hostile();
    getrusage(RUSAGE_SELF, &used);
    CHECK(used.ru_maxrss < 512 << 10); /* kB */
    return check_report();
}
