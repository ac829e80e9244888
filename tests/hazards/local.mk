# One small program for each problem that users of profilers of this kind have reported, and a
# script that runs them with and without the agent: a few times in "make check", as often as it takes
# for a race to show in "make hazards".
check_PROGRAMS += \
	tests/hazards/aligned \
	tests/hazards/all_timers \
	tests/hazards/alternate_stack \
	tests/hazards/big_fork \
	tests/hazards/cancelled_busy \
	tests/hazards/clock_calls \
	tests/hazards/close_all \
	tests/hazards/confined \
	tests/hazards/confined_calls \
	tests/hazards/crowd \
	tests/hazards/cut_transfers \
	tests/hazards/dispatched \
	tests/hazards/exec_chain \
	tests/hazards/few_timers \
	tests/hazards/forks_and_threads \
	tests/hazards/fleeting_memory \
	tests/hazards/found_stack \
	tests/hazards/generic_calls \
	tests/hazards/generic_calls_plain \
	tests/hazards/gprof \
	tests/hazards/handlers_place \
	tests/hazards/handlers_start \
	tests/hazards/ignored_signals \
	tests/hazards/interrupted \
	tests/hazards/keys \
	tests/hazards/late_timer \
	tests/hazards/late_tls \
	tests/hazards/leave_allocating \
	tests/hazards/left_calls \
	tests/hazards/library_churn \
	tests/hazards/loader_and_malloc \
	tests/hazards/locked \
	tests/hazards/many_contexts \
	tests/hazards/moved_signal \
	tests/hazards/open_calls \
	tests/hazards/own_names \
	tests/hazards/own_profiling \
	tests/hazards/raw_signals \
	tests/hazards/ring \
	tests/hazards/restarts \
	tests/hazards/shared_alternate \
	tests/hazards/short_transfers \
	tests/hazards/small_alternate \
	tests/hazards/small_stacks \
	tests/hazards/socket_times \
	tests/hazards/stepped \
	tests/hazards/taken_locks \
	tests/hazards/terminal \
	tests/hazards/throw \
	tests/hazards/vfork_signals \
	tests/hazards/waited_signals
tests_hazards_aligned_SOURCES = tests/hazards/aligned.c
tests_hazards_aligned_CFLAGS = $(TARGET_CFLAGS) -O2
tests_hazards_all_timers_SOURCES = tests/hazards/all_timers.c tests/hazards/busy.h
tests_hazards_all_timers_CFLAGS = $(TARGET_CFLAGS) -O2
tests_hazards_alternate_stack_SOURCES = tests/hazards/alternate_stack.c tests/hazards/busy.h
tests_hazards_alternate_stack_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_alternate_stack_LDFLAGS = -pthread
tests_hazards_big_fork_SOURCES = tests/hazards/big_fork.c tests/hazards/busy.h
tests_hazards_big_fork_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_big_fork_LDFLAGS = -pthread
tests_hazards_cancelled_busy_SOURCES = tests/hazards/cancelled_busy.c
tests_hazards_cancelled_busy_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_cancelled_busy_LDFLAGS = -pthread
tests_hazards_clock_calls_SOURCES = tests/hazards/clock_calls.c
tests_hazards_clock_calls_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_clock_calls_LDFLAGS = -pthread
tests_hazards_close_all_SOURCES = tests/hazards/close_all.c tests/hazards/busy.h
tests_hazards_close_all_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_close_all_LDFLAGS = -pthread
tests_hazards_confined_SOURCES = tests/hazards/confined.c
tests_hazards_confined_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_confined_LDFLAGS = -pthread
tests_hazards_confined_calls_SOURCES = tests/hazards/confined.c
tests_hazards_confined_calls_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread -finstrument-functions
tests_hazards_confined_calls_LDFLAGS = -pthread
tests_hazards_cut_transfers_SOURCES = tests/hazards/cut_transfers.c
tests_hazards_cut_transfers_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_cut_transfers_LDFLAGS = -pthread
tests_hazards_dispatched_SOURCES = tests/hazards/dispatched.c tests/hazards/busy.h
tests_hazards_dispatched_CFLAGS = $(TARGET_CFLAGS) -O2
tests_hazards_ignored_signals_SOURCES = tests/hazards/ignored_signals.c tests/hazards/busy.h
tests_hazards_ignored_signals_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_ignored_signals_LDFLAGS = -pthread
EXTRA_DIST += tests/hazards/foreign.c
tests_hazards_short_transfers_SOURCES = tests/hazards/short_transfers.c
tests_hazards_short_transfers_CFLAGS = $(TARGET_CFLAGS) -O2
tests_hazards_locked_SOURCES = tests/hazards/locked.c tests/hazards/busy.h
tests_hazards_locked_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_locked_LDFLAGS = -pthread
tests_hazards_crowd_SOURCES = tests/hazards/crowd.c tests/hazards/busy.h
tests_hazards_crowd_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_crowd_LDFLAGS = -pthread
tests_hazards_exec_chain_SOURCES = tests/hazards/exec_chain.c tests/hazards/busy.h
tests_hazards_exec_chain_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_exec_chain_LDFLAGS = -pthread
tests_hazards_few_timers_SOURCES = tests/hazards/few_timers.c tests/hazards/busy.h
tests_hazards_few_timers_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_few_timers_LDFLAGS = -pthread
tests_hazards_forks_and_threads_SOURCES = tests/hazards/forks_and_threads.c tests/hazards/busy.h
tests_hazards_forks_and_threads_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread -finstrument-functions
tests_hazards_forks_and_threads_LDFLAGS = -pthread
tests_hazards_found_stack_SOURCES = tests/hazards/found_stack.c tests/hazards/busy.h
tests_hazards_found_stack_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_found_stack_LDFLAGS = -pthread -Wl,-E
tests_hazards_generic_calls_SOURCES = tests/hazards/generic_calls.c tests/hazards/busy.h
tests_hazards_generic_calls_CFLAGS = $(TARGET_CFLAGS) -O2
tests_hazards_generic_calls_plain_SOURCES = tests/hazards/generic_calls.c tests/hazards/busy.h
tests_hazards_generic_calls_plain_CFLAGS = $(TARGET_CFLAGS) -O0
tests_hazards_gprof_SOURCES = tests/hazards/gprof.c tests/hazards/busy.h
tests_hazards_gprof_CFLAGS = $(TARGET_CFLAGS) -O2
tests_hazards_handlers_place_SOURCES = tests/hazards/handlers_place.c tests/hazards/busy.h
tests_hazards_handlers_place_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_handlers_place_LDFLAGS = -pthread
tests_hazards_handlers_start_SOURCES = tests/hazards/handlers_start.c tests/hazards/busy.h
tests_hazards_handlers_start_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_handlers_start_LDFLAGS = -pthread
tests_hazards_interrupted_SOURCES = tests/hazards/interrupted.c tests/hazards/busy.h
tests_hazards_interrupted_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_interrupted_LDFLAGS = -pthread
tests_hazards_keys_SOURCES = tests/hazards/keys.c tests/hazards/busy.h
tests_hazards_keys_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_keys_LDFLAGS = -pthread
tests_hazards_late_timer_SOURCES = tests/hazards/late_timer.c tests/hazards/busy.h
tests_hazards_late_timer_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_late_timer_LDFLAGS = -pthread
tests_hazards_shared_alternate_SOURCES = tests/hazards/shared_alternate.c tests/hazards/busy.h
tests_hazards_shared_alternate_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_shared_alternate_LDFLAGS = -pthread
tests_hazards_fleeting_memory_SOURCES = tests/hazards/fleeting_memory.c
tests_hazards_fleeting_memory_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_fleeting_memory_LDFLAGS = -pthread
tests_hazards_late_tls_SOURCES = tests/hazards/late_tls.c tests/hazards/busy.h
tests_hazards_late_tls_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_late_tls_LDFLAGS = -pthread
tests_hazards_leave_allocating_SOURCES = tests/hazards/leave_allocating.c tests/hazards/busy.h
tests_hazards_leave_allocating_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_leave_allocating_LDFLAGS = -pthread
tests_hazards_left_calls_SOURCES = tests/hazards/left_calls.c
tests_hazards_left_calls_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_left_calls_LDFLAGS = -pthread
tests_hazards_library_churn_SOURCES = tests/hazards/library_churn.c tests/hazards/busy.h
tests_hazards_library_churn_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_library_churn_LDFLAGS = -pthread
tests_hazards_loader_and_malloc_SOURCES = tests/hazards/loader_and_malloc.c
tests_hazards_loader_and_malloc_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_loader_and_malloc_LDFLAGS = -pthread
tests_hazards_many_contexts_SOURCES = tests/hazards/many_contexts.c tests/hazards/busy.h
tests_hazards_many_contexts_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_many_contexts_LDFLAGS = -pthread
tests_hazards_moved_signal_SOURCES = tests/hazards/moved_signal.c tests/hazards/busy.h
tests_hazards_moved_signal_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_moved_signal_LDFLAGS = -pthread
tests_hazards_open_calls_SOURCES = tests/hazards/open_calls.c
tests_hazards_open_calls_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_open_calls_LDFLAGS = -pthread
tests_hazards_own_names_SOURCES = tests/hazards/own_names.c
tests_hazards_own_names_CFLAGS = $(TARGET_CFLAGS) -O2
tests_hazards_own_profiling_SOURCES = tests/hazards/own_profiling.c tests/hazards/busy.h
tests_hazards_own_profiling_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_own_profiling_LDFLAGS = -pthread
tests_hazards_raw_signals_SOURCES = tests/hazards/raw_signals.c tests/hazards/busy.h
tests_hazards_raw_signals_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_raw_signals_LDFLAGS = -pthread
tests_hazards_restarts_SOURCES = tests/hazards/restarts.c tests/hazards/busy.h
tests_hazards_restarts_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_restarts_LDFLAGS = -pthread
tests_hazards_ring_SOURCES = tests/hazards/ring.c tests/hazards/busy.h
tests_hazards_ring_CFLAGS = $(TARGET_CFLAGS) -O2
tests_hazards_small_alternate_SOURCES = tests/hazards/small_alternate.c tests/hazards/busy.h
tests_hazards_small_alternate_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_small_alternate_LDFLAGS = -pthread
tests_hazards_small_stacks_SOURCES = tests/hazards/small_stacks.c tests/hazards/busy.h
tests_hazards_small_stacks_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_small_stacks_LDFLAGS = -pthread -Wl,-z,now
tests_hazards_vfork_signals_SOURCES = tests/hazards/vfork_signals.c tests/hazards/busy.h
tests_hazards_vfork_signals_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_vfork_signals_LDFLAGS = -pthread
tests_hazards_waited_signals_SOURCES = tests/hazards/waited_signals.c tests/hazards/busy.h
tests_hazards_waited_signals_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_waited_signals_LDFLAGS = -pthread
tests_hazards_socket_times_SOURCES = tests/hazards/socket_times.c
tests_hazards_socket_times_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_socket_times_LDFLAGS = -pthread
tests_hazards_stepped_SOURCES = tests/hazards/stepped.c tests/hazards/busy.h
tests_hazards_stepped_CFLAGS = $(TARGET_CFLAGS) -O2
tests_hazards_taken_locks_SOURCES = tests/hazards/taken_locks.c
tests_hazards_taken_locks_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_taken_locks_LDFLAGS = -pthread
tests_hazards_terminal_SOURCES = tests/hazards/terminal.c tests/hazards/busy.h
tests_hazards_terminal_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_hazards_terminal_LDFLAGS = -pthread
tests_hazards_throw_SOURCES = tests/hazards/throw.cc
tests_hazards_throw_CXXFLAGS = -Wall -Wextra $(WERROR_CFLAGS) -O2 -pthread
tests_hazards_throw_LDFLAGS = -pthread

check_PROGRAMS += tests/hazards/tls_library.so
tests_hazards_tls_library_so_SOURCES = tests/hazards/tls_library.c
tests_hazards_tls_library_so_CFLAGS = $(TARGET_CFLAGS) $(SHARED_CFLAGS)
tests_hazards_tls_library_so_LDFLAGS = $(SHARED_LINKING)

TESTS += tests/hazards/hazards_test.py
dist_check_SCRIPTS += tests/hazards/hazards_test.py

# RUNS=1000 is the default; HAZARDS="throw big_fork" runs only these, HAZARDS=gone, storm or check only one of the last.
hazards: all
	@$(MAKE) $(AM_MAKEFLAGS) -k check TESTS= >/dev/null
	@HCCT_SRCDIR=$(abs_top_srcdir) HCCT_BUILDDIR=$(abs_top_builddir) $(PYTHON3) \
		$(srcdir)/tests/hazards/hazards_test.py --runs $(or $(RUNS),1000) $(HAZARDS)
	@case "$(HAZARDS)" in "" | gone) \
		HCCT_SRCDIR=$(abs_top_srcdir) HCCT_BUILDDIR=$(abs_top_builddir) $(PYTHON3) \
		$(srcdir)/tests/e2e/gone_test.py --kills $(or $(RUNS),1000) ;; esac
	@case "$(HAZARDS)" in "" | storm) \
		HCCT_SRCDIR=$(abs_top_srcdir) HCCT_BUILDDIR=$(abs_top_builddir) $(PYTHON3) \
		$(srcdir)/tests/e2e/storm_test.py 800 ;; esac
	@case "$(HAZARDS)" in "" | check) \
		HCCT_SRCDIR=$(abs_top_srcdir) HCCT_BUILDDIR=$(abs_top_builddir) $(PYTHON3) \
		$(srcdir)/tests/e2e/check_test.py 1 ;; esac

.PHONY: hazards
