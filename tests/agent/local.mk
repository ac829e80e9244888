# The agent's rooms one by one, and the agent as a library.
check_PROGRAMS += tests/agent/emit_test tests/agent/unwind_test
tests_agent_emit_test_SOURCES = preload/emit.c tests/agent/emit_test.c
tests_agent_emit_test_LDADD = libhcct_ingest.a libhcct_tree.a libhcct_code.a $(ELF_LIBS) \
	$(IBERTY_LIBS)
tests_agent_unwind_test_SOURCES = preload/unwind.c tests/agent/unwind_test.c
tests_agent_unwind_test_LDADD = libhcct_code.a $(ELF_LIBS) $(IBERTY_LIBS)
TESTS += tests/agent/emit_test tests/agent/symbols_test.sh tests/agent/unwind_test
EXTRA_DIST += tests/agent/symbols_test.sh
