# Readers made by others, fetched by contrib/readers.sh; without them these tests are skipped.
dist_check_SCRIPTS += \
	tests/readers/firefox_test.py \
	tests/readers/program_test.py \
	tests/readers/speedscope_test.py

TESTS += \
	tests/readers/firefox_test.py \
	tests/readers/program_test.py \
	tests/readers/speedscope_test.py

EXTRA_DIST += \
	tests/readers/contexts.py \
	tests/readers/firefox.py \
	tests/readers/make_pprof.js \
	tests/readers/npm.py \
	tests/readers/package-lock.json \
	tests/readers/package.json \
	tests/readers/schema.js \
	tests/readers/speedscope_viewer.js
