#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# The agent's libraries: libc is all that they need, they define what they intercept and nothing else,
# nothing is bound lazily, and nothing in them could allocate or take C++ exceptions over.
status=0

check() { # WHAT GOT WANTED
    if [ "$2" = "$3" ]; then
        echo "ok      $1"
    else
        printf 'NOT SO  %s\n--- found\n%s\n--- wanted\n%s\n' "$1" "$2" "$3"
        status=1
    fi
}

command -v readelf >/dev/null && command -v nm >/dev/null || exit 77

# check_library NAME: what holds for each of them
check_library() {
    library=$HCCT_BUILDDIR/preload/$1
    needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | sort)
    check "$1 needs libc only" "$needed" "libc.so.6"
    check "$1: all symbols are bound at the start" \
        "$(readelf -d "$library" | grep -q 'BIND_NOW\|Flags:.*NOW' && echo bound)" "bound"
    undefined=$(nm -D --undefined-only "$library" | sed 's/@.*//')
    check "$1: no allocation, lock or print is reachable" \
        "$(echo "$undefined" | awk '{ print $2 }' |
            grep -E '^(malloc|calloc|realloc|free|.*printf|fopen|fwrite|pthread_mutex_.*|dlopen|__tls_get_addr|_Unwind_.*|unw_.*)$')" ""
    # the loader would give us a program's function of that name, which may do something else
    check "$1 calls by the loader only what C reserves for libc" \
        "$(echo "$undefined" | awk '$1 != "v" { print $2 }' |
            grep -v -E '^(_.*|mem[a-z]*|str[a-z]*|getenv|malloc|free|gnu_get_libc_version|dl_iterate_phdr|hcct_.*)$')" ""
    # a loader ends a program for a symbol that it does not find, unless that is weak
    check "$1: what only glibc has is not needed" \
        "$(echo "$undefined" | awk '$1 == "U" { print $2 }' |
            grep -E '^(_dl_.*|__libc_stack_end|__register_atfork|gnu_get_libc_version|__.*_chk|__fdelt.*)$')" ""
}

# check_defines NAME SYMBOL...: these and no others
check_defines() {
    library=$HCCT_BUILDDIR/preload/$1
    name=$1
    shift
    check "$name defines what it intercepts, and where others find it" \
        "$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort)" "$(printf '%s\n' "$@" | sort)"
}

# ---- the agent ----

check_library libhcctagent.so
wanted="_Exit _exit __cyg_profile_func_enter __cyg_profile_func_exit __longjmp_chk __sigaction __sysv_signal
    _dl_find_object _longjmp bsd_signal chroot dlclose longjmp mlockall prctl prlimit prlimit64 setns setreuid setresuid seteuid setuid unshare pthread_create pthread_key_create pthread_sigmask setrlimit setrlimit64 sigaction signal
    __monstartup moncontrol monstartup profil sighold sigignore siginterrupt sprofil
    sigaltstack siglongjmp signalfd sigprocmask sigset ssignal sysv_signal thrd_create timer_create tss_create"
# what can put its caller to sleep
wanted="$wanted __poll_chk __ppoll_chk __read_chk __recv_chk accept accept4 read readv wait wait3 wait4 waitpid __recvfrom_chk
    clock_nanosleep cnd_timedwait cnd_wait connect copy_file_range epoll_pwait epoll_pwait2 epoll_wait getrandom mq_receive mq_send
    mq_timedreceive mq_timedsend msgrcv msgsnd nanosleep pause poll ppoll pselect
    pthread_barrier_wait pthread_cond_clockwait pthread_cond_timedwait pthread_cond_wait
    pthread_join recv
    recvfrom recvmmsg recvmsg select sem_clockwait sem_timedwait sem_wait semop semtimedop send
    sendfile sendfile64 sendmmsg sendmsg sendto sigsuspend sigtimedwait sigwait sigwaitinfo sleep
    splice syscall thrd_sleep usleep write writev"
wanted="$wanted mtx_lock mtx_timedlock pthread_mutex_clocklock pthread_mutex_lock pthread_mutex_timedlock
    pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock pthread_rwlock_rdlock pthread_rwlock_timedrdlock
    pthread_rwlock_timedwrlock pthread_rwlock_wrlock pwritev2 pwritev64v2"
# what begins a process or a program
wanted="$wanted _Fork clone execl execle execlp execv execve execveat execvp execvpe fexecve popen posix_spawn
    posix_spawnp system vfork wordexp"
# where calls of what they open or look up are redirected
[ "$(uname -m)" != x86_64 ] || wanted="$wanted dlmopen dlopen dlsym dlvsym"
# what a program says by hcct.h
wanted="$wanted hcct_agent_context hcct_agent_label_clear hcct_agent_label_set hcct_agent_mark hcct_agent_start
    hcct_agent_stop hcct_context hcct_label_clear hcct_label_set hcct_mark hcct_start hcct_stop"
check_defines libhcctagent.so $wanted

# ---- its sibling for processes that run already, where a loader's lock may be another thread's ----

check_library libhcctattach.so
late=$HCCT_BUILDDIR/preload/libhcctattach.so
check "it has the function that is called" "$(nm -D --defined-only "$late" | grep -c ' T hcct_attach$')" "1"
check "it says which of its code the application calls" \
    "$(nm -D --defined-only "$late" | grep -c ' T hcct_attach_parts$')" "1"
check "it has no constructor of its own" "$(nm "$late" | grep -c ' agent_start$')" "0"
check "it stays" "$(readelf -d "$late" | grep -q 'Flags:.*NODELETE' && echo so)" "so"
tls=$(readelf -lW "$late" | awk '$1 == "TLS" { print $6 }')
check "its thread-local variables are few ($tls bytes)" "$([ $((tls)) -le 128 ] && echo few)" "few"
# it has a malloc and locks for the application: that it calls none itself its objects say
own=$(nm -u "$HCCT_BUILDDIR"/preload/life/libhcctattach_so-*.o | awk '{ print $2 }' | grep -v '^$' | sort -u)
check "its own parts call libc for something" "$(echo "$own" | grep -c '^__register_atfork$')" "1"
check "and allocate nothing, and take no lock" \
    "$(echo "$own" | grep -E '^(malloc|calloc|realloc|free|pthread_(mutex|rwlock|spin)_.*|mtx_.*|_Zn.*|_Zd.*)$')" ""

# ---- what both have that stand before malloc and before locks ----

# check_jumps NAME: EVENT_CALLER of what is called would be a place in the library
check_jumps() {
    check "$1: the rest of a function is jumped to, not called" \
        "$(objdump -d --no-show-raw-insn -j hcct_blocks -j hcct_locks "$HCCT_BUILDDIR/preload/$1" 2>/dev/null |
            grep -o -E '(call|jmp|bl?)[[:space:]].*_slowly>$' | awk '{ print $1 }' | sort -u | tr -d b)" \
        "$([ "$(uname -m)" = x86_64 ] && echo jmp)"
}

check_jumps libhcctblocks.so
check_jumps libhcctlocks.so
check_jumps libhcctattach.so

# ---- the library that stands before malloc ----

check_library libhcctblocks.so
wanted="aligned_alloc calloc free hcct_blocks_link malloc memalign posix_memalign pvalloc realloc
    reallocarray valloc"
for operator in _Znw _Zna; do
    for form in m mRKSt9nothrow_t mSt11align_val_t mSt11align_val_tRKSt9nothrow_t; do
        wanted="$wanted $operator$form"
    done
done
for operator in _Zdl _Zda; do
    for form in Pv Pvm PvRKSt9nothrow_t PvSt11align_val_t PvmSt11align_val_t PvSt11align_val_tRKSt9nothrow_t; do
        wanted="$wanted $operator$form"
    done
done
check_defines libhcctblocks.so $wanted

# ---- the library that stands before locks ----

check_library libhcctlocks.so
wanted="hcct_held_link hcct_locks_link mtx_lock mtx_timedlock mtx_unlock pthread_spin_lock pthread_spin_unlock"
for form in lock timedlock clocklock unlock; do wanted="$wanted pthread_mutex_$form"; done
for form in rdlock wrlock timedrdlock timedwrlock clockrdlock clockwrlock unlock; do
    wanted="$wanted pthread_rwlock_$form"
done
check_defines libhcctlocks.so $wanted
exit $status
