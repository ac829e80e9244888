# Pictures for README, from real programs: make screenshots.
EXTRA_DIST += doc/diff.png doc/page-dark.png doc/page.png doc/sampling.md doc/screenshots.sh \
	doc/top.png

screenshots: all
	@$(SHELL) $(srcdir)/doc/screenshots.sh $(builddir)

.PHONY: screenshots
