check_PROGRAMS += tests/common/call_choice_test tests/common/intern_test \
	tests/common/memory_test tests/common/nearest_test tests/common/options_test \
	tests/common/tags_test
TESTS += tests/common/call_choice_test tests/common/intern_test tests/common/memory_test \
	tests/common/nearest_test tests/common/options_test tests/common/tags_test
tests_common_memory_test_SOURCES = tests/common/memory_test.c
tests_common_memory_test_LDADD = libhcct_common.a
tests_common_nearest_test_SOURCES = tests/common/nearest_test.c
tests_common_nearest_test_LDADD = libhcct_common.a
tests_common_call_choice_test_SOURCES = tests/common/call_choice_test.c
tests_common_call_choice_test_LDADD = libhcct_common.a
tests_common_intern_test_SOURCES = tests/common/intern_test.c
tests_common_intern_test_LDADD = libhcct_common.a
tests_common_intern_test_LDFLAGS = -Wl,--wrap=calloc
tests_common_options_test_SOURCES = tests/common/options_test.c
tests_common_options_test_LDADD = libhcct_common.a
tests_common_tags_test_SOURCES = tests/common/tags_test.c
tests_common_tags_test_LDADD = libhcct_common.a

check_PROGRAMS += tests/common/moments_test
TESTS += tests/common/moments_test
tests_common_moments_test_SOURCES = tests/common/moments_test.c
tests_common_moments_test_LDADD = libhcct_common.a
