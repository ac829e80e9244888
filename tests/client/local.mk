# The client against a server that says what it is to say, and an agent that does nothing.
check_PROGRAMS += tests/client/command_line_test tests/client/http_client_test tests/client/instrumented_target \
	tests/client/call_files_test tests/client/callless_target tests/client/library_user tests/client/static_target
check_PROGRAMS += tests/client/empty_agent.so tests/client/libcalled.so

tests_client_command_line_test_SOURCES = client/command_line.c tests/client/command_line_test.c
tests_client_command_line_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

tests_client_http_client_test_SOURCES = client/http_client.c tests/client/http_client_test.c
tests_client_callless_target_SOURCES = tests/client/static_target.c
tests_client_callless_target_CFLAGS = $(TARGET_CFLAGS) -O1
tests_client_instrumented_target_SOURCES = tests/client/static_target.c
tests_client_instrumented_target_CFLAGS = $(TARGET_CFLAGS) -finstrument-functions
tests_client_call_files_test_SOURCES = client/commands/call_files.c client/program_file.c \
	tests/client/call_files_test.c
tests_client_call_files_test_LDADD = libhcct_code.a libhcct_common.a $(ELF_LIBS) $(UNWIND_LIBS) $(IBERTY_LIBS)
tests_client_library_user_SOURCES = tests/client/library_user.c
tests_client_library_user_CFLAGS = $(TARGET_CFLAGS)
tests_client_library_user_LDADD = tests/client/libcalled.so
tests_client_libcalled_so_SOURCES = tests/client/called_library.c
tests_client_libcalled_so_CFLAGS = $(TARGET_CFLAGS) -finstrument-functions $(SHARED_CFLAGS)
tests_client_libcalled_so_LDFLAGS = $(SHARED_LINKING)
tests_client_static_target_SOURCES = tests/client/static_target.c
tests_client_static_target_CFLAGS = $(TARGET_CFLAGS)
tests_client_static_target_LDFLAGS = -static
tests_client_empty_agent_so_SOURCES = tests/client/empty_agent.c
tests_client_empty_agent_so_CFLAGS = $(TARGET_CFLAGS) $(SHARED_CFLAGS)
tests_client_empty_agent_so_LDFLAGS = $(SHARED_LINKING)

EXTRA_DIST += tests/client/fake_hcctd.py tests/client/support.py
dist_check_SCRIPTS += tests/client/completions_test.sh tests/client/diff_test.py tests/client/encode_test.py \
	tests/client/eval_test.py tests/client/query_test.py tests/client/record_test.py \
	tests/client/replay_test.py
TESTS += tests/client/command_line_test tests/client/completions_test.sh tests/client/diff_test.py \
	tests/client/encode_test.py tests/client/eval_test.py tests/client/http_client_test \
	tests/client/call_files_test tests/client/query_test.py tests/client/record_test.py \
	tests/client/replay_test.py

check_PROGRAMS += tests/client/top_test tests/client/top_text_test
tests_client_top_test_SOURCES = \
	client/ask.c \
	client/http_client.c \
	client/json_in.c \
	client/option_words.c \
	client/processes.c \
	client/top/actions.c \
	client/top/cells.c \
	client/top/client.c \
	client/top/file.c \
	client/top/head.c \
	client/top/ids.c \
	client/top/keys.c \
	client/top/kinds.c \
	client/top/model.c \
	client/top/rows.c \
	client/top/shape.c \
	client/top/steps.c \
	client/top/strip.c \
	client/top/text.c \
	client/top/threads.c \
	client/top/tree.c \
	client/top/ui.c \
	tests/client/top_test.c
tests_client_top_test_CPPFLAGS = $(AM_CPPFLAGS) $(NCURSESW_CFLAGS)
tests_client_top_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(IBERTY_LIBS)
tests_client_top_text_test_SOURCES = \
	client/json_in.c \
	client/top/strip.c \
	client/top/text.c \
	client/top/threads.c \
	tests/client/top_text_test.c
tests_client_top_text_test_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS) $(IBERTY_LIBS)
TESTS += tests/client/top_test tests/client/top_text_test

check_PROGRAMS += tests/client/filter_test
tests_client_filter_test_SOURCES = client/attach/filter.c client/attach/target.c tests/client/filter_test.c
TESTS += tests/client/filter_test
