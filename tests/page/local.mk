# The HTML page, in a browser.
check_PROGRAMS += tests/page/write_page

tests_page_write_page_SOURCES = tests/page/write_page.c tests/report/sample.c tests/report/sample.h
tests_page_write_page_LDADD = libhcct_render.a libhcct_profile.a libhcct_common.a $(REPORT_LIBS)

TESTS += tests/page/page_test.py tests/page/live_page_test.py tests/page/past_page_test.py
EXTRA_DIST += tests/page/browser.js tests/page/live_page_test.js tests/page/live_page_test.py tests/page/page_test.js \
	tests/page/past_page_test.js tests/page/past_page_test.py \
	tests/page/page_test.py tests/page/screenshot.js tests/page/screenshot.py
