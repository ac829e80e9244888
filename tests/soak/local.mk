# A mixed load on one daemon, for SOAK_SECONDS: make soak SOAK_FLAGS="--restart 0". Prints memory,
# lost ticks and restarts each minute, and a verdict. Not part of make check.
EXTRA_DIST += tests/soak/loads.py tests/soak/soak.py tests/soak/watch.py
SOAK_SECONDS = 600
SOAK_NEEDS = client/hcct daemon/hcctd preload/libhcctagent.so tests/targets/equal_threads \
	tests/targets/storm tests/targets/calls_mixed tests/targets/jit tests/targets/sleepy \
	tests/hazards/exec_chain tests/hazards/library_churn tests/hazards/many_contexts

soak: $(SOAK_NEEDS)
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON3) -B '$(srcdir)/tests/soak/soak.py' \
	    --seconds $(SOAK_SECONDS) $(SOAK_FLAGS)

# Attaching and detaching, ATTACH_RUNS times for each program: make attach-runs.
EXTRA_DIST += tests/soak/attach_runs.py
ATTACH_RUNS = 1000
attach-runs: client/hcct daemon/hcctd preload/libhcctattach.so tests/targets/attach_storm \
	tests/targets/attach_library.so
	@$(AM_TESTS_ENVIRONMENT) $(PYTHON3) -B '$(srcdir)/tests/soak/attach_runs.py' \
	    --runs $(ATTACH_RUNS) $(ATTACH_FLAGS)

.PHONY: soak attach-runs
