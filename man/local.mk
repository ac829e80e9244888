dist_man_MANS += \
	man/hcct-annotate.1 \
	man/hcct-attach.1 \
	man/hcct-calls.7 \
	man/hcct-detach.1 \
	man/hcct-diff.1 \
	man/hcct-doctor.1 \
	man/hcct-decode.1 \
	man/hcct-encode.1 \
	man/hcct-eval.1 \
	man/hcct-fleet.1 \
	man/hcct-formats.5 \
	man/hcct-hosts.7 \
	man/hcct-hot.1 \
	man/hcct-list.1 \
	man/hcct-merge.1 \
	man/hcct-push.1 \
	man/hcct-record.1 \
	man/hcct-replay.1 \
	man/hcct-report.1 \
	man/hcct-set.1 \
	man/hcct-snapshot.1 \
	man/hcct-start.1 \
	man/hcct-stop.1 \
	man/hcct-top.1 \
	man/hcct-trace.5 \
	man/hcct-view.7 \
	man/hcct.1 \
	man/hcct.h.3 \
	man/hcctd.8 \
	man/libhcctagent.7
dist_check_SCRIPTS += tests/man_test.sh
TESTS += tests/man_test.sh
