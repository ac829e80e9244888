# Programs of known behaviour, and real ones, from end to end.
check_PROGRAMS += tests/targets/guest tests/targets/known_shares
tests_targets_guest_SOURCES = tests/targets/guest.c
tests_targets_guest_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_guest_LDFLAGS = -pthread
tests_targets_known_shares_SOURCES = tests/targets/known_shares.c
tests_targets_known_shares_CFLAGS = $(TARGET_CFLAGS) -pthread
tests_targets_known_shares_LDFLAGS = -pthread

e2e_tests = \
	tests/e2e/daemon_test.py tests/e2e/guest_test.py tests/e2e/known_shares_test.py \
	tests/e2e/follow_test.py tests/e2e/lifecycle_test.py tests/e2e/oracle_test.py \
	tests/e2e/programs_test.py tests/e2e/storm_test.py
TESTS += $(e2e_tests)
EXTRA_DIST += $(e2e_tests) tests/e2e/rusage.py tests/e2e/support.py

check_PROGRAMS += tests/targets/oracle tests/targets/oracle_cxx tests/targets/storm
tests_targets_oracle_SOURCES = tests/targets/oracle.c
tests_targets_oracle_CFLAGS = $(TARGET_CFLAGS) -O2
tests_targets_oracle_cxx_SOURCES = tests/targets/oracle.cc
tests_targets_oracle_cxx_CXXFLAGS = -Wall -Wextra $(WERROR_CFLAGS) -O2
tests_targets_storm_SOURCES = tests/targets/storm.cc
tests_targets_storm_CXXFLAGS = -Wall -Wextra $(WERROR_CFLAGS) -pthread
tests_targets_storm_LDFLAGS = -pthread
