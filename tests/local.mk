# Tests: a program or script for each, 0 passed, 77 skipped, anything else failed.
noinst_HEADERS += tests/check.h
dist_check_SCRIPTS += tests/licence_test.sh tests/lists_test.sh tests/packages_test.sh tests/readme_test.py tests/rooms_test.py tests/words_test.sh
TESTS += tests/licence_test.sh tests/lists_test.sh tests/packages_test.sh tests/readme_test.py tests/rooms_test.py tests/words_test.sh

include tests/bench/local.mk
include tests/agent/local.mk
include tests/client/local.mk
include tests/code/local.mk
include tests/common/local.mk
include tests/daemon/local.mk
include tests/e2e/local.mk
include tests/encode/local.mk
include tests/fuzz/local.mk
include tests/hazards/local.mk
include tests/ingest/local.mk
include tests/page/local.mk
include tests/readers/local.mk
include tests/remote/local.mk
include tests/report/local.mk
include tests/soak/local.mk
include tests/step/local.mk
include tests/trace/local.mk
include tests/tree/local.mk
