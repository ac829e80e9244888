EXTRA_DIST += \
	contrib/bare.sh \
	contrib/build.sh \
	contrib/packages.sh \
	contrib/packages.txt \
	contrib/paper/README \
	contrib/paper/accuracy.py \
	contrib/paper/build.py \
	contrib/paper/fetch.py \
	contrib/paper/main.py \
	contrib/paper/pprof.py \
	contrib/paper/programs.py \
	contrib/paper/published.py \
	contrib/paper/run.sh \
	contrib/paper/show.py \
	contrib/paper/slowdown.py \
	contrib/paper/tables.py \
	contrib/paper/tool.py \
	contrib/readers.sh \
	contrib/suites/README \
	contrib/suites/build_load.py \
	contrib/suites/build_load.sh \
	contrib/suites/compare.py \
	contrib/suites/execs.py \
	contrib/suites/main.py \
	contrib/suites/parsers.py \
	contrib/suites/run.sh \
	contrib/suites/sources.py \
	contrib/suites/suites.py \
	contrib/suites/suites_test.py \
	contrib/suites/trial.py \
	contrib/terminal_picture.py \
	contrib/test.sh \
	contrib/try.sh \
	contrib/with_build.sh

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = contrib/completions/hcct
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = contrib/completions/_hcct

# The papers' tables, on programs built from the distribution's sources: make paper
# PAPER_FLAGS=--quick. Never passes or fails on time.
paper: all
	@$(SHELL) '$(abs_top_srcdir)/contrib/paper/run.sh' --build '$(abs_top_builddir)' $(PAPER_FLAGS)

# Real programs' own test suites, without and with the agent: make suites SUITES_FLAGS="zstd redis".
suites: all
	@$(SHELL) '$(abs_top_srcdir)/contrib/suites/run.sh' --build '$(abs_top_builddir)' $(SUITES_FLAGS)

TESTS += contrib/suites/suites_test.py

.PHONY: paper suites

# systemd: a socket and a service, for the system and for each user.
EXTRA_DIST += \
	contrib/systemd/system/hcctd.service.in contrib/systemd/system/hcctd.socket \
	contrib/systemd/user/hcctd.service.in contrib/systemd/user/hcctd.socket
CLEANFILES += contrib/systemd/system/hcctd.service contrib/systemd/user/hcctd.service
if HCCT_SYSTEM_UNITS
systemdsystemunit_DATA = contrib/systemd/system/hcctd.service contrib/systemd/system/hcctd.socket
endif
if HCCT_USER_UNITS
systemduserunit_DATA = contrib/systemd/user/hcctd.service contrib/systemd/user/hcctd.socket
endif

contrib/systemd/system/hcctd.service: contrib/systemd/system/hcctd.service.in Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SED) 's|@bindir''@|$(bindir)|' '$(srcdir)/contrib/systemd/system/hcctd.service.in' >$@

contrib/systemd/user/hcctd.service: contrib/systemd/user/hcctd.service.in Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SED) 's|@bindir''@|$(bindir)|' '$(srcdir)/contrib/systemd/user/hcctd.service.in' >$@
