# What README.md links to is installed beside it.
nobase_dist_doc_DATA += doc/architecture.md doc/building.md doc/encoding.md doc/limits.md doc/measurements.md \
	doc/page.png doc/sampling.md

# Pictures, from real programs: make screenshots.
EXTRA_DIST += doc/diff.png doc/page-dark.png doc/screenshots.sh doc/top.png

screenshots: all
	@$(SHELL) $(srcdir)/doc/screenshots.sh $(builddir)

.PHONY: screenshots
