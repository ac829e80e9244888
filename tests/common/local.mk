check_PROGRAMS += tests/common/options_test
TESTS += tests/common/options_test
tests_common_options_test_SOURCES = tests/common/options_test.c
tests_common_options_test_LDADD = libhcct_common.a
