# Tests of common/encode: codes, contexts of random programs, new encodings.
ENCODE_RANDOM = tests/encode/programs.c tests/encode/programs.h
check_PROGRAMS += tests/encode/encode_test tests/encode/encoding_test
TESTS += tests/encode/encode_test tests/encode/encoding_test

tests_encode_encode_test_SOURCES = tests/encode/encode_test.c $(ENCODE_RANDOM)
tests_encode_encode_test_LDADD = libhcct_encode.a libhcct_common.a
tests_encode_encoding_test_SOURCES = tests/encode/encoding_test.c $(ENCODE_RANDOM)
tests_encode_encoding_test_LDADD = libhcct_encode.a libhcct_common.a

check_PROGRAMS += tests/encode/stubs_test
TESTS += tests/encode/stubs_test
tests_encode_stubs_test_SOURCES = tests/encode/stubs.c tests/encode/stubs.h tests/encode/stubs_test.c $(ENCODE_RANDOM)
tests_encode_stubs_test_LDADD = libhcct_encode.a libhcct_common.a
