EXTRA_DIST += \
	contrib/aarch64/build.sh \
	contrib/aarch64/check.sh \
	contrib/aarch64/init \
	contrib/aarch64/machine.sh \
	contrib/aarch64/root.sh \
	contrib/aarch64/skipped.txt \
	contrib/bare.sh \
	contrib/build.sh \
	contrib/check_deb.sh \
	contrib/containers/Dockerfile \
	contrib/containers/README.md \
	contrib/containers/check.sh \
	contrib/containers/compose.yaml \
	contrib/containers/kubernetes.yaml \
	contrib/deb.sh \
	contrib/installed.sh \
	contrib/grafana/README contrib/grafana/clickhouse.json contrib/grafana/prometheus.json \
	contrib/mirror.sh \
	contrib/fetch_packages.py \
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
	contrib/paper/unmodified.py \
	contrib/readers.sh \
	contrib/suites/README \
	contrib/suites/battery.py \
	contrib/suites/battery.sh \
	contrib/suites/build_load.py \
	contrib/suites/build_load.sh \
	contrib/suites/compare.py \
	contrib/suites/execs.py \
	contrib/suites/main.py \
	contrib/suites/parsers.py \
	contrib/suites/programs.py \
	contrib/suites/programs/7z.sh \
	contrib/suites/programs/J.java \
	contrib/suites/programs/apache.sh \
	contrib/suites/programs/bash.sh \
	contrib/suites/programs/bwrap.sh \
	contrib/suites/programs/chromium.sh \
	contrib/suites/programs/debugged.c \
	contrib/suites/programs/emacs.sh \
	contrib/suites/programs/erlang.sh \
	contrib/suites/programs/ffmpeg.sh \
	contrib/suites/programs/firefox.sh \
	contrib/suites/programs/gdb.sh \
	contrib/suites/programs/ghostscript.sh \
	contrib/suites/programs/git.sh \
	contrib/suites/programs/gnuplot.sh \
	contrib/suites/programs/go.sh \
	contrib/suites/programs/gomain.go \
	contrib/suites/programs/gpg.sh \
	contrib/suites/programs/graphviz.sh \
	contrib/suites/programs/guile.sh \
	contrib/suites/programs/h.hs \
	contrib/suites/programs/haproxy.sh \
	contrib/suites/programs/haskell.sh \
	contrib/suites/programs/imagemagick.sh \
	contrib/suites/programs/java.sh \
	contrib/suites/programs/jq.sh \
	contrib/suites/programs/latex.sh \
	contrib/suites/programs/libreoffice.sh \
	contrib/suites/programs/lighttpd.sh \
	contrib/suites/programs/m.cs \
	contrib/suites/programs/make.sh \
	contrib/suites/programs/mc.py \
	contrib/suites/programs/memcached.sh \
	contrib/suites/programs/mono.sh \
	contrib/suites/programs/n.js \
	contrib/suites/programs/named.sh \
	contrib/suites/programs/nginx.conf \
	contrib/suites/programs/nginx.sh \
	contrib/suites/programs/node.sh \
	contrib/suites/programs/o.ml \
	contrib/suites/programs/ocaml.sh \
	contrib/suites/programs/octave.sh \
	contrib/suites/programs/openssl.sh \
	contrib/suites/programs/p.py \
	contrib/suites/programs/page.html \
	contrib/suites/programs/pandoc.sh \
	contrib/suites/programs/perl.sh \
	contrib/suites/programs/pg.sql \
	contrib/suites/programs/php.sh \
	contrib/suites/programs/postgres.sh \
	contrib/suites/programs/python3.sh \
	contrib/suites/programs/r.rs \
	contrib/suites/programs/r.sh \
	contrib/suites/programs/racket.sh \
	contrib/suites/programs/redis.sh \
	contrib/suites/programs/ruby.sh \
	contrib/suites/programs/rust.sh \
	contrib/suites/programs/s.lisp \
	contrib/suites/programs/sbcl.sh \
	contrib/suites/programs/sqlite3.sh \
	contrib/suites/programs/strace.sh \
	contrib/suites/programs/stress-ng.sh \
	contrib/suites/programs/swipl.sh \
	contrib/suites/programs/vim.sh \
	contrib/suites/programs/zstd.sh \
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

# Real programs, without and with the agent, in all modes: make battery BATTERY_FLAGS="nginx redis".
battery: all
	@$(SHELL) '$(abs_top_srcdir)/contrib/suites/battery.sh' --build '$(abs_top_builddir)' $(BATTERY_FLAGS)

# All of it on aarch64, by an emulator: make check-aarch64 AARCH64_TESTS="tests/e2e/wall_test.py".
check-aarch64:
	@$(SHELL) '$(abs_top_srcdir)/contrib/aarch64/check.sh' $(AARCH64_TESTS)

TESTS += contrib/suites/suites_test.py

# Debian packages, in deb/; and whether they install, work and go again in a bare Debian.
EXTRA_DIST += \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/hcct-dev.install \
	debian/hcct.install \
	debian/hcctd.install \
	debian/hcctd.lintian-overrides \
	debian/hcctd.postrm \
	debian/libhcctagent.install \
	debian/libhcctagent.lintian-overrides \
	debian/rules \
	debian/source/format \
	debian/source/lintian-overrides

deb: dist
	@$(SHELL) '$(abs_top_srcdir)/contrib/deb.sh' $(distdir).tar.gz deb

check-deb: deb
	@$(SHELL) '$(abs_top_srcdir)/contrib/check_deb.sh' deb

# The recipes for containers, with these packages.
check-containers: deb all
	@$(SHELL) '$(abs_top_srcdir)/contrib/containers/check.sh' deb .

.PHONY: battery check-aarch64 check-containers check-deb deb paper suites

# systemd: a socket and a service, for the system and for each user.
EXTRA_DIST += \
	contrib/systemd/system/hcct-push@.service.in \
	contrib/systemd/system/hcctd.service.in contrib/systemd/system/hcctd.socket \
	contrib/systemd/user/hcctd.service.in contrib/systemd/user/hcctd.socket
CLEANFILES += contrib/systemd/system/hcct-push@.service contrib/systemd/system/hcctd.service contrib/systemd/user/hcctd.service
if HCCT_SYSTEM_UNITS
systemdsystemunit_DATA = contrib/systemd/system/hcctd.service contrib/systemd/system/hcctd.socket \
	contrib/systemd/system/hcct-push@.service
endif
if HCCT_USER_UNITS
systemduserunit_DATA = contrib/systemd/user/hcctd.service contrib/systemd/user/hcctd.socket
endif

contrib/systemd/system/hcct-push@.service: contrib/systemd/system/hcct-push@.service.in Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SED) 's|@bindir''@|$(bindir)|' '$(srcdir)/contrib/systemd/system/hcct-push@.service.in' >$@

contrib/systemd/system/hcctd.service: contrib/systemd/system/hcctd.service.in Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SED) 's|@bindir''@|$(bindir)|' '$(srcdir)/contrib/systemd/system/hcctd.service.in' >$@

contrib/systemd/user/hcctd.service: contrib/systemd/user/hcctd.service.in Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SED) 's|@bindir''@|$(bindir)|' '$(srcdir)/contrib/systemd/user/hcctd.service.in' >$@
