check_PROGRAMS += tests/common/call_choice_test tests/common/options_test tests/common/tags_test
TESTS += tests/common/call_choice_test tests/common/options_test tests/common/tags_test
tests_common_call_choice_test_SOURCES = tests/common/call_choice_test.c
tests_common_call_choice_test_LDADD = libhcct_common.a
tests_common_options_test_SOURCES = tests/common/options_test.c
tests_common_options_test_LDADD = libhcct_common.a
tests_common_tags_test_SOURCES = tests/common/tags_test.c
tests_common_tags_test_LDADD = libhcct_common.a
