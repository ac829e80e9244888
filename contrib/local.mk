EXTRA_DIST += \
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
	contrib/test.sh \
	contrib/try.sh \
	contrib/try.sql

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = contrib/completions/hcct
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = contrib/completions/_hcct

# The papers' tables, on programs built from the distribution's sources: make paper
# PAPER_FLAGS=--quick. Never passes or fails on time.
paper: all
	@$(SHELL) '$(abs_top_srcdir)/contrib/paper/run.sh' --build '$(abs_top_builddir)' $(PAPER_FLAGS)

.PHONY: paper
