# Programs of known behaviour, and real ones, from end to end.
check_PROGRAMS += tests/targets/self_view tests/targets/known_shares tests/targets/kernel_time
tests_targets_kernel_time_SOURCES = tests/targets/kernel_time.c
tests_targets_kernel_time_CFLAGS = $(TARGET_CFLAGS)
tests_targets_self_view_SOURCES = tests/targets/self_view.c
tests_targets_self_view_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_self_view_LDFLAGS = -pthread
tests_targets_known_shares_SOURCES = tests/targets/known_shares.c
tests_targets_known_shares_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_known_shares_LDFLAGS = -pthread

e2e_tests = tests/e2e/check_test.py tests/e2e/daemon_test.py tests/e2e/deep_test.py \
	tests/e2e/diff_test.py tests/e2e/doctor_test.py tests/e2e/control_test.py \
	tests/e2e/http_test.py tests/e2e/systemd_test.py tests/e2e/tags_test.py \
	tests/e2e/child_ends_test.py tests/e2e/container_test.py tests/e2e/copies_test.py tests/e2e/forks_test.py tests/e2e/first_process_test.py \
	tests/e2e/undisturbed_test.py \
	tests/e2e/halves_test.py tests/e2e/init_test.py tests/e2e/intervals_test.py tests/e2e/labels_test.py tests/e2e/marks_test.py \
	tests/e2e/known_shares_test.py tests/e2e/lines_test.py tests/e2e/lives_test.py \
	tests/e2e/rate_test.py tests/e2e/requests_test.py tests/e2e/readers_test.py tests/e2e/render_test.py tests/e2e/checkpoint_test.py \
	tests/e2e/hostile_test.py tests/e2e/kill_test.py tests/e2e/many_test.py tests/e2e/missed_test.py \
	tests/e2e/eintr_test.py tests/e2e/masked_test.py tests/e2e/naps_test.py tests/e2e/raw_naps_test.py tests/e2e/stretches_test.py tests/e2e/handled_test.py tests/e2e/no_memory_test.py tests/e2e/own_directory_test.py \
	tests/e2e/slow_client_test.py tests/e2e/stopped_test.py tests/e2e/small_threads_test.py tests/e2e/two_users_test.py tests/e2e/valgrind_test.py \
	tests/e2e/wall_test.py tests/e2e/wall_calls_test.py tests/e2e/wall_end_test.py \
	tests/e2e/between_sleeps_test.py tests/e2e/alarmed_test.py \
	tests/e2e/wall_fork_test.py tests/e2e/fork_cost_test.py tests/e2e/page_faults_test.py tests/e2e/follow_test.py \
	tests/e2e/jit_test.py tests/e2e/mapped_twice_test.py tests/e2e/python_frames_test.py tests/e2e/python_judge_test.py tests/e2e/system_calls_test.py tests/e2e/past_test.py tests/e2e/slow_minute_test.py \
	tests/e2e/lifecycle_test.py tests/e2e/loads_test.py tests/e2e/plugins_test.py tests/e2e/oracle_test.py \
	tests/e2e/programs_test.py tests/e2e/sleep_test.py tests/e2e/storm_test.py \
	tests/e2e/top_server_test.py tests/e2e/top_test.py tests/e2e/terminal_test.py \
	tests/e2e/text_test.py tests/e2e/threads_test.py tests/e2e/totals_test.py tests/e2e/window_test.py \
	tests/e2e/call_sites_test.py tests/e2e/called_test.py tests/e2e/calls_broad_test.py tests/e2e/calls_callgrind_test.py \
	tests/e2e/calls_budget_test.py tests/e2e/calls_exact_test.py tests/e2e/calls_robust_test.py tests/e2e/few_descriptors_test.py tests/e2e/gone_test.py tests/e2e/patience_test.py \
	tests/e2e/calls_dense_test.py tests/e2e/calls_coroutines_test.py tests/e2e/calls_left_test.py tests/e2e/calls_thrown_test.py tests/e2e/calls_lives_test.py tests/e2e/calls_adaptive_test.py \
	tests/e2e/calls_some_test.py tests/e2e/calls_torture_test.py \
	tests/e2e/redirect_callgrind_test.py tests/e2e/redirect_text_test.py tests/e2e/calls_opened_test.py \
	tests/e2e/calls_said_test.py tests/e2e/calls_linked_test.py tests/e2e/calls_interposed_test.py \
	tests/e2e/calls_locked_test.py \
	tests/e2e/redirect_torture_test.py tests/e2e/attach_test.py tests/e2e/attach_running_test.py tests/e2e/attach_late_test.py \
	tests/e2e/attach_user_test.py tests/e2e/attach_stacks_test.py \
	tests/e2e/attach_metrics_test.py tests/e2e/wall_again_test.py \
	tests/e2e/blocks_test.py tests/e2e/held_test.py tests/e2e/kept_test.py tests/e2e/leak_test.py tests/e2e/lost_blocks_test.py \
	tests/e2e/locks_test.py tests/e2e/metrics_test.py \
	tests/e2e/wait_test.py tests/e2e/contexts_test.py tests/e2e/encode_test.py \
	tests/e2e/encode_contexts_test.py tests/e2e/runtime_names_test.py
TESTS += $(e2e_tests)
EXTRA_DIST += $(e2e_tests) tests/e2e/attach_support.py tests/e2e/calls_support.py tests/e2e/rusage.py tests/e2e/screen.py \
	tests/e2e/support.py tests/e2e/users_support.py tests/e2e/wire_support.py tests/e2e/workloads.py

# Stands for node, java and python: of an old version, and of one that knows the options.
check_PROGRAMS += tests/targets/runtime tests/targets/runtime_knows
tests_targets_runtime_SOURCES = tests/targets/runtime.c
tests_targets_runtime_CFLAGS = $(TARGET_CFLAGS)
tests_targets_runtime_knows_SOURCES = tests/targets/runtime.c
tests_targets_runtime_knows_CFLAGS = $(TARGET_CFLAGS) -DKNOWS

check_PROGRAMS += tests/targets/mapped_twice tests/targets/server
tests_targets_server_SOURCES = tests/targets/server.c
tests_targets_server_CFLAGS = $(TARGET_CFLAGS) -O1 -g
tests_targets_mapped_twice_SOURCES = tests/targets/mapped_twice.c
tests_targets_mapped_twice_CFLAGS = $(TARGET_CFLAGS) -O1 -g

# An agent whose samples the interpreter itself judges.
check_PROGRAMS += tests/targets/python_judge.so
tests_targets_python_judge_so_SOURCES = tests/targets/python_judge.c preload/life/start.c
tests_targets_python_judge_so_CPPFLAGS = $(AGENT_CPPFLAGS)
tests_targets_python_judge_so_CFLAGS = $(AGENT_CFLAGS)
EXTRA_tests_targets_python_judge_so_DEPENDENCIES = $(AGENT_ARCHIVES)
tests_targets_python_judge_so_LDADD =
tests_targets_python_judge_so_LDFLAGS = $(AGENT_LINKING) $(WHOLE_AGENT) -Wl,-z,nodlopen \
	-Wl,--wrap=emit_sample,--wrap=emit_name

# Programs that are attached to, and what they load.
check_PROGRAMS += tests/targets/attach_quiet tests/targets/attach_storm tests/targets/attach_shares tests/targets/attach_sleepers
tests_targets_attach_quiet_SOURCES = tests/targets/attach_quiet.c
tests_targets_attach_quiet_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_attach_quiet_LDFLAGS = -pthread
check_PROGRAMS += tests/targets/attach_metrics tests/targets/own_malloc
tests_targets_own_malloc_SOURCES = tests/targets/own_malloc.c
tests_targets_own_malloc_CFLAGS = $(TARGET_CFLAGS) -fno-builtin
tests_targets_attach_metrics_SOURCES = tests/targets/attach_metrics.c
tests_targets_attach_metrics_CFLAGS = $(TARGET_CFLAGS) -pthread -fno-builtin
tests_targets_attach_metrics_LDFLAGS = -pthread
check_PROGRAMS += tests/targets/attach_library.so
tests_targets_attach_storm_SOURCES = tests/targets/attach_storm.c
tests_targets_attach_storm_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_attach_storm_LDFLAGS = -pthread
tests_targets_attach_shares_SOURCES = tests/targets/attach_shares.c
tests_targets_attach_shares_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_attach_shares_LDFLAGS = -pthread
tests_targets_attach_sleepers_SOURCES = tests/targets/attach_sleepers.c
tests_targets_attach_sleepers_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_attach_sleepers_LDFLAGS = -pthread
tests_targets_attach_library_so_SOURCES = tests/targets/attach_library.c
tests_targets_attach_library_so_CFLAGS = $(TARGET_CFLAGS) $(SHARED_CFLAGS)
tests_targets_attach_library_so_LDFLAGS = $(SHARED_LINKING)

# Calls that end in all ways, and many of one kind, for contexts by open calls.
check_PROGRAMS += tests/targets/dear_calls tests/targets/open_calls
tests_targets_dear_calls_SOURCES = tests/targets/dear_calls.c
tests_targets_dear_calls_CFLAGS = $(TARGET_CFLAGS) $(USUAL_CFLAGS)
tests_targets_open_calls_SOURCES = tests/targets/open_calls.cc
tests_targets_open_calls_CXXFLAGS = $(CALLS_CXXFLAGS) $(USUAL_CFLAGS) -pthread
tests_targets_open_calls_LDFLAGS = -pthread

# What is left to process 1.
check_PROGRAMS += tests/targets/orphans
tests_targets_orphans_SOURCES = tests/targets/orphans.c
tests_targets_orphans_CFLAGS = $(TARGET_CFLAGS)

check_PROGRAMS += tests/targets/worker
tests_targets_worker_SOURCES = tests/targets/worker.c
tests_targets_worker_CFLAGS = $(TARGET_CFLAGS)

# Lazy binding takes more than the stacks have.
check_PROGRAMS += tests/targets/small_threads
tests_targets_small_threads_SOURCES = tests/targets/small_threads.c
tests_targets_small_threads_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_small_threads_LDFLAGS = -pthread -Wl,-z,now

check_PROGRAMS += tests/targets/inherits
tests_targets_inherits_SOURCES = tests/targets/inherits.c
tests_targets_inherits_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_inherits_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/leaves_root
tests_targets_leaves_root_SOURCES = tests/targets/leaves_root.c
tests_targets_leaves_root_CFLAGS = $(TARGET_CFLAGS)

check_PROGRAMS += tests/targets/oracle tests/targets/oracle_cxx tests/targets/storm
tests_targets_oracle_SOURCES = tests/targets/oracle.c
tests_targets_oracle_CFLAGS = $(TARGET_CFLAGS) -O2
tests_targets_oracle_cxx_SOURCES = tests/targets/oracle.cc
tests_targets_oracle_cxx_CXXFLAGS = -Wall -Wextra $(WERROR_CFLAGS) -O2
tests_targets_storm_SOURCES = tests/targets/storm.cc
tests_targets_storm_CXXFLAGS = -Wall -Wextra $(WERROR_CFLAGS) -pthread
tests_targets_storm_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/latency tests/targets/many_threads tests/targets/requests tests/targets/limits_itself
tests_targets_requests_SOURCES = tests/targets/requests.c
tests_targets_requests_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_targets_requests_LDFLAGS = -pthread
tests_targets_limits_itself_SOURCES = tests/targets/limits_itself.c
tests_targets_limits_itself_CFLAGS = $(TARGET_CFLAGS)
tests_targets_many_threads_SOURCES = tests/targets/many_threads.c
tests_targets_many_threads_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_many_threads_LDFLAGS = -pthread
tests_targets_latency_SOURCES = tests/targets/latency.c
tests_targets_latency_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_latency_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/lives tests/targets/destructors tests/targets/rounds
tests_targets_rounds_SOURCES = tests/targets/rounds.c
tests_targets_rounds_CFLAGS = $(TARGET_CFLAGS) -O1 -fno-optimize-sibling-calls
tests_targets_destructors_SOURCES = tests/targets/destructors.c
tests_targets_destructors_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_destructors_LDFLAGS = -pthread
tests_targets_lives_SOURCES = tests/targets/lives.c
tests_targets_lives_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_lives_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/called
tests_targets_called_SOURCES = tests/targets/called.c
tests_targets_called_CFLAGS = $(TARGET_CFLAGS)

check_PROGRAMS += tests/targets/phases
tests_targets_phases_SOURCES = tests/targets/phases.c
tests_targets_phases_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_phases_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/handlers
tests_targets_handlers_SOURCES = tests/targets/handlers.c
tests_targets_handlers_CFLAGS = $(TARGET_CFLAGS)

check_PROGRAMS += tests/targets/names
EXTRA_DIST += tests/e2e/names.rs
tests_targets_names_SOURCES = tests/targets/names.cc
tests_targets_names_CXXFLAGS = -Wall -Wextra $(WERROR_CFLAGS) -std=c++17 -g -O2

# Copies of the library are distinguished by their files: it has no build-id.
check_PROGRAMS += tests/targets/loads tests/targets/loads_library
tests_targets_loads_SOURCES = tests/targets/loads.c
tests_targets_loads_CFLAGS = $(TARGET_CFLAGS)
tests_targets_loads_library_SOURCES = tests/targets/loads.c
tests_targets_loads_library_CFLAGS = $(TARGET_CFLAGS) -DLOADS_LIBRARY -fPIC
tests_targets_loads_library_LDFLAGS = -shared -Wl,--build-id=none

# As many plugins are made of it as a test needs, each with a name and a build-id of its own.
check_PROGRAMS += tests/targets/plugins tests/targets/plugins_library
tests_targets_plugins_SOURCES = tests/targets/plugins.c
tests_targets_plugins_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_plugins_library_SOURCES = tests/targets/plugins.c
tests_targets_plugins_library_CFLAGS = $(TARGET_CFLAGS) -DPLUGINS_LIBRARY -fPIC
tests_targets_plugins_library_LDFLAGS = -shared -Wl,--build-id=sha1

check_PROGRAMS += tests/targets/broken_python
tests_targets_broken_python_SOURCES = tests/targets/broken_python.c
tests_targets_broken_python_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_broken_python_LDFLAGS = -pthread -rdynamic
check_PROGRAMS += tests/targets/jit
tests_targets_jit_SOURCES = tests/targets/jit.c tests/targets/made_object.h
tests_targets_jit_CFLAGS = $(TARGET_CFLAGS)

check_PROGRAMS += tests/targets/init tests/targets/init_shared
tests_targets_init_SOURCES = tests/targets/init.c
tests_targets_init_CFLAGS = $(TARGET_CFLAGS)
tests_targets_init_shared_SOURCES = tests/targets/init.c
tests_targets_init_shared_CFLAGS = $(TARGET_CFLAGS) -DINIT_SHARED -fPIC
tests_targets_init_shared_LDFLAGS = -shared

check_PROGRAMS += tests/targets/deep tests/targets/equal_threads tests/targets/sleepy
tests_targets_deep_SOURCES = tests/targets/deep.c
tests_targets_deep_CFLAGS = $(TARGET_CFLAGS) -O1 -fno-optimize-sibling-calls
tests_targets_equal_threads_SOURCES = tests/targets/equal_threads.c
tests_targets_equal_threads_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_equal_threads_LDFLAGS = -pthread
tests_targets_sleepy_SOURCES = tests/targets/sleepy.c
tests_targets_sleepy_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_sleepy_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/sleep_battery tests/targets/sleep_on tests/targets/sleeper
check_PROGRAMS += tests/targets/between_sleeps tests/targets/alarmed
tests_targets_alarmed_SOURCES = tests/targets/alarmed.c
tests_targets_alarmed_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_alarmed_LDFLAGS = -pthread
tests_targets_between_sleeps_SOURCES = tests/targets/between_sleeps.c
tests_targets_between_sleeps_CFLAGS = $(TARGET_CFLAGS)
tests_targets_sleep_on_SOURCES = tests/targets/sleep_on.cc
tests_targets_sleep_on_CXXFLAGS = $(CALLS_CXXFLAGS) -O1 -pthread
tests_targets_sleep_on_LDFLAGS = -pthread
tests_targets_sleep_battery_SOURCES = tests/targets/sleep_battery.c
tests_targets_sleep_battery_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_targets_sleep_battery_LDFLAGS = -pthread
tests_targets_sleeper_SOURCES = \
	tests/targets/sleeper.c tests/targets/sleeper.h \
	tests/targets/sleeper_event.c \
	tests/targets/sleeper_later.c tests/targets/sleeper_later.h \
	tests/targets/sleeper_time.c
tests_targets_sleeper_CFLAGS = $(TARGET_CFLAGS) -O2 -pthread
tests_targets_sleeper_LDFLAGS = -pthread

# Programs that report their calls: plain, each function is called; else inlined where gcc likes to.
REPORTING = -finstrument-functions
REPORTING_PLAIN = $(REPORTING) -O1 -fno-inline
CALLS_CXXFLAGS = -Wall -Wextra $(WERROR_CFLAGS)
check_PROGRAMS += tests/targets/calls_oracle tests/targets/calls_recursive \
	tests/targets/calls_mixed tests/targets/calls_mixed_plain
tests_targets_calls_oracle_SOURCES = tests/targets/oracle.c
tests_targets_calls_oracle_CFLAGS = $(TARGET_CFLAGS) $(REPORTING) -O2
tests_targets_calls_recursive_SOURCES = tests/bench/recursive.cc
tests_targets_calls_recursive_CXXFLAGS = $(CALLS_CXXFLAGS) $(REPORTING) -O2
tests_targets_calls_mixed_SOURCES = tests/targets/calls_mixed.c
tests_targets_calls_mixed_CFLAGS = $(TARGET_CFLAGS) $(REPORTING) -O2 -pthread
tests_targets_calls_mixed_LDFLAGS = $(USES_CALLS_SHARED)
tests_targets_calls_mixed_LDADD = tests/targets/calls_shared
tests_targets_calls_mixed_plain_SOURCES = tests/targets/calls_mixed.c
tests_targets_calls_mixed_plain_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN) -pthread
tests_targets_calls_mixed_plain_LDFLAGS = $(USES_CALLS_SHARED)
tests_targets_calls_mixed_plain_LDADD = tests/targets/calls_shared

check_PROGRAMS += tests/targets/calls_broad
tests_targets_calls_broad_SOURCES = tests/targets/calls_broad.c
tests_targets_calls_broad_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN)

check_PROGRAMS += tests/targets/calls_naive tests/targets/calls_shared
USES_CALLS_SHARED = -pthread -Wl,-rpath,'$$ORIGIN'
tests_targets_calls_naive_SOURCES = tests/targets/calls_naive.c
tests_targets_calls_naive_CFLAGS = $(TARGET_CFLAGS) -O2 -fPIC -fvisibility=hidden
tests_targets_calls_naive_LDFLAGS = -shared -pthread
tests_targets_calls_shared_SOURCES = tests/targets/calls_count.h tests/targets/calls_shared.c \
	tests/targets/calls_shared.h
tests_targets_calls_shared_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN) -fPIC
tests_targets_calls_shared_LDFLAGS = -shared -Wl,-soname,calls_shared

check_PROGRAMS += tests/targets/calls_plugin_a tests/targets/calls_plugin_b \
	tests/targets/calls_torture tests/targets/calls_torture_plain
tests_targets_calls_plugin_a_SOURCES = tests/targets/calls_count.h tests/targets/calls_plugin.c
tests_targets_calls_plugin_a_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN) -DPART=a -DPADDING=1 -fPIC
tests_targets_calls_plugin_a_LDFLAGS = -shared
tests_targets_calls_plugin_b_SOURCES = tests/targets/calls_count.h tests/targets/calls_plugin.c
tests_targets_calls_plugin_b_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN) -DPART=b -DPADDING=256 -fPIC
tests_targets_calls_plugin_b_LDFLAGS = -shared
TORTURE = tests/targets/calls_count.h tests/targets/calls_shared.h tests/targets/calls_torture.cc
tests_targets_calls_torture_SOURCES = $(TORTURE)
tests_targets_calls_torture_CXXFLAGS = $(CALLS_CXXFLAGS) $(REPORTING) -O2 -pthread
tests_targets_calls_torture_LDFLAGS = $(USES_CALLS_SHARED)
tests_targets_calls_torture_LDADD = tests/targets/calls_shared
tests_targets_calls_torture_plain_SOURCES = $(TORTURE)
tests_targets_calls_torture_plain_CXXFLAGS = $(CALLS_CXXFLAGS) $(REPORTING_PLAIN) -pthread
tests_targets_calls_torture_plain_LDFLAGS = $(USES_CALLS_SHARED)
tests_targets_calls_torture_plain_LDADD = tests/targets/calls_shared

# The same program and libraries as anybody builds them; and others whose calls are redirected.
USUAL_CFLAGS = -O1 -fno-inline -fno-optimize-sibling-calls
check_PROGRAMS += tests/targets/own_clock tests/targets/own_memory tests/targets/calls_wrapped tests/targets/calls_opened tests/targets/calls_opened_plugin \
	tests/targets/usual/calls_shared tests/targets/usual/calls_plugin_a \
	tests/targets/usual/calls_plugin_b tests/targets/usual/calls_torture \
	tests/targets/redirect_gone tests/targets/redirect_gone_plugin tests/targets/redirect_own \
	tests/targets/redirect_steps tests/targets/redirect_text
tests_targets_own_clock_SOURCES = tests/targets/own_clock.c
tests_targets_own_clock_CFLAGS = $(TARGET_CFLAGS) -O1 -fno-builtin
tests_targets_own_memory_SOURCES = tests/targets/own_clock.c
tests_targets_own_memory_CFLAGS = $(TARGET_CFLAGS) -O1 -fno-builtin -DMEMORY
tests_targets_calls_wrapped_SOURCES = tests/targets/calls_wrapped.c
tests_targets_calls_wrapped_CFLAGS = $(TARGET_CFLAGS) -O1 -pthread
tests_targets_calls_opened_SOURCES = tests/targets/calls_opened.c
tests_targets_calls_opened_CFLAGS = $(TARGET_CFLAGS) -O1
tests_targets_calls_opened_LDFLAGS = -Wl,-rpath,'$$ORIGIN' -rdynamic
tests_targets_calls_opened_plugin_SOURCES = tests/targets/calls_opened.c
tests_targets_calls_opened_plugin_CFLAGS = $(TARGET_CFLAGS) -O1 -DPLUGIN -fPIC
tests_targets_calls_opened_plugin_LDFLAGS = -shared
tests_targets_redirect_gone_SOURCES = tests/targets/redirect_gone.c
tests_targets_redirect_gone_CFLAGS = $(TARGET_CFLAGS) -O1
tests_targets_redirect_gone_plugin_SOURCES = tests/targets/redirect_gone.c
tests_targets_redirect_gone_plugin_CFLAGS = $(TARGET_CFLAGS) -O1 -DPLUGIN -fPIC
tests_targets_redirect_gone_plugin_LDFLAGS = -shared -Wl,-z,lazy
tests_targets_usual_calls_shared_SOURCES = tests/targets/calls_shared.c tests/targets/calls_shared.h
tests_targets_usual_calls_shared_CFLAGS = $(TARGET_CFLAGS) $(USUAL_CFLAGS) -fPIC
tests_targets_usual_calls_shared_LDFLAGS = -shared -Wl,-soname,calls_shared
tests_targets_usual_calls_plugin_a_SOURCES = tests/targets/calls_count.h tests/targets/calls_plugin.c
tests_targets_usual_calls_plugin_a_CFLAGS = $(TARGET_CFLAGS) $(USUAL_CFLAGS) -DPART=a -DPADDING=1 -fPIC
tests_targets_usual_calls_plugin_a_LDFLAGS = -shared
tests_targets_usual_calls_plugin_b_SOURCES = tests/targets/calls_count.h tests/targets/calls_plugin.c
tests_targets_usual_calls_plugin_b_CFLAGS = $(TARGET_CFLAGS) $(USUAL_CFLAGS) -DPART=b -DPADDING=256 -fPIC
tests_targets_usual_calls_plugin_b_LDFLAGS = -shared
tests_targets_usual_calls_torture_SOURCES = $(TORTURE)
tests_targets_usual_calls_torture_CXXFLAGS = $(CALLS_CXXFLAGS) $(USUAL_CFLAGS) -pthread
tests_targets_usual_calls_torture_LDFLAGS = $(USES_CALLS_SHARED)
tests_targets_usual_calls_torture_LDADD = tests/targets/usual/calls_shared
tests_targets_redirect_own_SOURCES = tests/targets/redirect_own.c
tests_targets_redirect_own_CFLAGS = $(TARGET_CFLAGS) -O1
tests_targets_redirect_steps_SOURCES = tests/targets/redirect_steps.c
tests_targets_redirect_steps_CFLAGS = $(TARGET_CFLAGS) -O1
tests_targets_redirect_text_SOURCES = tests/targets/redirect_text.c
tests_targets_redirect_text_CFLAGS = $(TARGET_CFLAGS) -O1 -fno-optimize-sibling-calls

# tests/targets/restless loads the plugins above.
check_PROGRAMS += tests/targets/calls_asked tests/targets/calls_coroutines tests/targets/calls_left tests/targets/restless
tests_targets_calls_coroutines_SOURCES = tests/targets/calls_coroutines.c
tests_targets_calls_coroutines_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN)
tests_targets_calls_asked_SOURCES = tests/targets/calls_asked.c
tests_targets_calls_asked_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN)
tests_targets_calls_left_SOURCES = tests/targets/calls_left.c
tests_targets_calls_left_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN)
# Handlers that throw, in a program that reports its calls and in one that does not.
check_PROGRAMS += tests/targets/calls_thrown tests/targets/usual/calls_thrown
THROWN = tests/targets/calls_thrown_at.c tests/targets/calls_thrown.cc tests/targets/calls_thrown.h
tests_targets_calls_thrown_SOURCES = $(THROWN)
tests_targets_calls_thrown_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN)
tests_targets_calls_thrown_CXXFLAGS = $(CALLS_CXXFLAGS) $(REPORTING_PLAIN) -fnon-call-exceptions
tests_targets_usual_calls_thrown_SOURCES = $(THROWN)
tests_targets_usual_calls_thrown_CFLAGS = $(TARGET_CFLAGS) $(USUAL_CFLAGS)
tests_targets_usual_calls_thrown_CXXFLAGS = $(CALLS_CXXFLAGS) $(USUAL_CFLAGS) -fnon-call-exceptions
tests_targets_restless_SOURCES = tests/targets/restless.cc
tests_targets_restless_CXXFLAGS = $(CALLS_CXXFLAGS) $(REPORTING_PLAIN) -pthread
tests_targets_restless_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/calls_own_hooks tests/targets/calls_phases \
	tests/targets/calls_dense tests/targets/calls_dense_hooks tests/targets/calls_lives
tests_targets_calls_dense_SOURCES = tests/targets/calls_dense.c
tests_targets_calls_dense_CFLAGS = $(TARGET_CFLAGS) -O2
tests_targets_calls_lives_SOURCES = tests/targets/calls_lives.c
tests_targets_calls_lives_CFLAGS = $(TARGET_CFLAGS) -O2
tests_targets_calls_lives_LDFLAGS = -pthread
tests_targets_calls_dense_hooks_SOURCES = tests/targets/calls_dense.c
tests_targets_calls_dense_hooks_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN)
tests_targets_calls_own_hooks_SOURCES = tests/targets/calls_own_hooks.c
tests_targets_calls_own_hooks_CFLAGS = $(TARGET_CFLAGS) $(REPORTING)
tests_targets_calls_phases_SOURCES = tests/targets/calls_phases.c
tests_targets_calls_phases_CFLAGS = $(TARGET_CFLAGS) $(REPORTING_PLAIN)

# The same work, and half of it slower by a tenth.
check_PROGRAMS += tests/targets/steps tests/targets/steps_slow
tests_targets_steps_SOURCES = tests/targets/steps.c
tests_targets_steps_CFLAGS = $(TARGET_CFLAGS) -O1
tests_targets_steps_slow_SOURCES = tests/targets/steps.c
tests_targets_steps_slow_CFLAGS = $(TARGET_CFLAGS) -O1 -DSLOWER=10

check_PROGRAMS += tests/targets/named_threads
tests_targets_named_threads_SOURCES = tests/targets/named_threads.c
tests_targets_named_threads_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_named_threads_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/marks
tests_targets_marks_SOURCES = tests/targets/marks.c
tests_targets_marks_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_marks_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/contexts tests/targets/contexts_cpp
tests_targets_contexts_cpp_SOURCES = tests/targets/contexts_cpp.cc
tests_targets_contexts_SOURCES = tests/targets/contexts.c
tests_targets_contexts_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_contexts_LDFLAGS = -pthread
check_PROGRAMS += tests/targets/labels tests/targets/labels_cpp
tests_targets_labels_SOURCES = tests/targets/labels.c
tests_targets_labels_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_labels_LDFLAGS = -pthread
tests_targets_labels_cpp_SOURCES = tests/targets/labels_cpp.cc
tests_targets_labels_cpp_CXXFLAGS = -std=c++11 -Wall -Wextra $(WERROR_CFLAGS) -fno-pie
tests_targets_labels_cpp_LDFLAGS = -no-pie

# What SDKs of OpenTelemetry say of threads: the variable in the program, or in a library that is
# opened, where it is reached by descriptors, by a call or by its place.
check_PROGRAMS += tests/targets/otel tests/targets/otel_opened
tests_targets_otel_SOURCES = tests/targets/otel.c tests/targets/otel.h tests/targets/otel_message.h
tests_targets_otel_CFLAGS = $(TARGET_CFLAGS) -pthread -DOWN_VARIABLE
tests_targets_otel_LDFLAGS = -pthread -rdynamic
tests_targets_otel_opened_SOURCES = tests/targets/otel.c tests/targets/otel.h tests/targets/otel_message.h
tests_targets_otel_opened_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_otel_opened_LDFLAGS = -pthread
check_PROGRAMS += tests/targets/otel_call.so tests/targets/otel_descriptor.so \
	tests/targets/otel_place.so
tests_targets_otel_call_so_SOURCES = tests/targets/otel.h tests/targets/otel_library.c
tests_targets_otel_call_so_CFLAGS = $(TARGET_CFLAGS) $(SHARED_CFLAGS)
tests_targets_otel_call_so_LDFLAGS = $(SHARED_LINKING)
tests_targets_otel_descriptor_so_SOURCES = tests/targets/otel.h tests/targets/otel_library.c
tests_targets_otel_descriptor_so_CFLAGS = $(TARGET_CFLAGS) $(TLS_DESCRIPTORS) $(SHARED_CFLAGS)
tests_targets_otel_descriptor_so_LDFLAGS = $(SHARED_LINKING)
tests_targets_otel_place_so_SOURCES = tests/targets/otel.h tests/targets/otel_library.c
tests_targets_otel_place_so_CFLAGS = $(TARGET_CFLAGS) -ftls-model=initial-exec $(SHARED_CFLAGS)
tests_targets_otel_place_so_LDFLAGS = $(SHARED_LINKING)
if HCCT_X86_64
TLS_DESCRIPTORS = -mtls-dialect=gnu2
else
TLS_DESCRIPTORS = -mtls-dialect=desc
endif

check_PROGRAMS += tests/targets/eintr
tests_targets_eintr_SOURCES = tests/targets/eintr.c
tests_targets_eintr_CFLAGS = $(TARGET_CFLAGS) -O2
check_PROGRAMS += tests/targets/raw_naps
tests_targets_raw_naps_SOURCES = tests/targets/raw_naps.c
# with a hole between its segments, as linkers make it where pages may be large: the loader says that it
# ends where its code does
check_PROGRAMS += tests/targets/ends
tests_targets_ends_SOURCES = tests/targets/ends.c
tests_targets_ends_LDFLAGS = -Wl,-z,noseparate-code -Wl,-z,max-page-size=65536
check_PROGRAMS += tests/targets/lines
tests_targets_lines_SOURCES = tests/targets/lines.c
tests_targets_lines_CFLAGS = $(TARGET_CFLAGS) -O1 -g

check_PROGRAMS += tests/targets/short_calls
tests_targets_short_calls_SOURCES = tests/targets/short_calls.c
tests_targets_short_calls_CFLAGS = $(TARGET_CFLAGS)

check_PROGRAMS += tests/targets/outlasts
tests_targets_outlasts_SOURCES = tests/targets/outlasts.c
tests_targets_outlasts_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_outlasts_LDFLAGS = -pthread

check_PROGRAMS += tests/targets/naps tests/targets/stretches tests/targets/handled tests/targets/handler_view
tests_targets_naps_SOURCES = tests/targets/naps.c
tests_targets_stretches_SOURCES = tests/targets/stretches.c
tests_targets_handled_SOURCES = tests/targets/handled.c
tests_targets_handler_view_SOURCES = tests/targets/handler_view.c
tests_targets_naps_CFLAGS = $(TARGET_CFLAGS)

check_PROGRAMS += tests/targets/vforks
tests_targets_vforks_SOURCES = tests/targets/vforks.c
tests_targets_vforks_CFLAGS = $(TARGET_CFLAGS)

check_PROGRAMS += tests/targets/masked
tests_targets_masked_SOURCES = tests/targets/masked.c
tests_targets_masked_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_masked_LDFLAGS = -pthread

# Shares that a program knows, where it calls, sleeps and waits. By hand, in all settings and often:
# make check-law.
check_PROGRAMS += tests/targets/copied
tests_targets_copied_SOURCES = tests/targets/copied.c
tests_targets_copied_CFLAGS = $(TARGET_CFLAGS) -O1

check_PROGRAMS += tests/targets/halves
tests_targets_halves_SOURCES = tests/targets/halves.c
tests_targets_halves_CFLAGS = $(TARGET_CFLAGS) -O1

check-law: all $(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON3) -B '$(abs_top_srcdir)'/tests/e2e/halves_test.py --runs 20

# Functions whose shares are known, in phases of several lengths. By hand, 100 runs of each setting,
# as a table: make check-intervals.
check_PROGRAMS += tests/targets/shares
tests_targets_shares_SOURCES = tests/targets/shares.c
tests_targets_shares_CFLAGS = $(TARGET_CFLAGS) -O1
tests_targets_shares_LDFLAGS = -pthread

# Threads of a child that sleep.
check_PROGRAMS += tests/targets/sleepers
tests_targets_sleepers_SOURCES = tests/targets/sleepers.c
tests_targets_sleepers_CFLAGS = $(TARGET_CFLAGS) -O1
tests_targets_sleepers_LDFLAGS = -pthread

check-intervals: all $(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON3) -B '$(abs_top_srcdir)'/tests/e2e/intervals_test.py --runs 100

.PHONY: check-law check-intervals

# Sampled allocations. By hand, 100 runs of each metric, as a table: make check-blocks.
check_PROGRAMS += tests/targets/blocks_places tests/targets/blocks_truth
tests_targets_blocks_places_SOURCES = tests/targets/blocks_places.c
tests_targets_blocks_places_CFLAGS = $(TARGET_CFLAGS) -O1 -fno-builtin -pthread
tests_targets_blocks_places_LDFLAGS = -pthread
tests_targets_blocks_places_LDADD = -lm
tests_targets_blocks_truth_SOURCES = tests/targets/blocks_truth.c
tests_targets_blocks_truth_CFLAGS = $(TARGET_CFLAGS) -O1 -pthread
tests_targets_blocks_truth_LDFLAGS = -pthread

# A server that leaks. By hand, how often it is found: leak_test.py --runs 20.
check_PROGRAMS += tests/targets/leaky
tests_targets_leaky_SOURCES = tests/targets/leaky.c
tests_targets_leaky_CFLAGS = $(TARGET_CFLAGS) -O1

# Allocates and frees what it is told.
check_PROGRAMS += tests/targets/heap_steps
tests_targets_heap_steps_SOURCES = tests/targets/heap_steps.c
tests_targets_heap_steps_CFLAGS = $(TARGET_CFLAGS) -O1

# What computes, allocates and waits at once.
check_PROGRAMS += tests/targets/keeps tests/targets/other_build.so
tests_targets_keeps_SOURCES = tests/targets/keeps.c
tests_targets_keeps_CFLAGS = $(TARGET_CFLAGS)
tests_targets_other_build_so_SOURCES = tests/targets/other_build.c
tests_targets_other_build_so_CFLAGS = $(TARGET_CFLAGS) $(SHARED_CFLAGS)
tests_targets_other_build_so_LDFLAGS = $(SHARED_LINKING)

check_PROGRAMS += tests/targets/metrics
tests_targets_metrics_SOURCES = tests/targets/metrics.c
tests_targets_metrics_CFLAGS = $(TARGET_CFLAGS) -O1 -fno-builtin -pthread
tests_targets_metrics_LDFLAGS = -pthread

# The same as of blocks, of waits for locks.
check_PROGRAMS += tests/targets/locks_held tests/targets/locks_places tests/targets/locks_short \
	tests/targets/locks_truth
tests_targets_locks_held_SOURCES = tests/targets/locks_held.c
tests_targets_locks_held_CFLAGS = $(TARGET_CFLAGS) -O1 -pthread
tests_targets_locks_held_LDFLAGS = -pthread
tests_targets_locks_places_SOURCES = tests/targets/locks_places.c
tests_targets_locks_places_CFLAGS = $(TARGET_CFLAGS) -O1 -pthread
tests_targets_locks_places_LDFLAGS = -pthread
tests_targets_locks_short_SOURCES = tests/targets/locks_short.c
tests_targets_locks_short_CFLAGS = $(TARGET_CFLAGS) -O1 -pthread
tests_targets_locks_short_LDFLAGS = -pthread
tests_targets_locks_truth_SOURCES = tests/targets/locks_truth.c
tests_targets_locks_truth_CFLAGS = $(TARGET_CFLAGS) -O1 -pthread
tests_targets_locks_truth_LDFLAGS = -pthread

check-blocks: all $(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON3) -B '$(abs_top_srcdir)'/tests/e2e/blocks_test.py --runs 100

check-locks: all $(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON3) -B '$(abs_top_srcdir)'/tests/e2e/locks_test.py --runs 100

.PHONY: check-blocks check-locks
