dist_man_MANS += man/hcct.1 man/hcct-trace.5 man/hcctd.8 man/libhcctagent.7
dist_check_SCRIPTS += tests/man_test.sh
TESTS += tests/man_test.sh
