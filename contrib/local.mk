EXTRA_DIST += \
	contrib/build.sh \
	contrib/packages.sh \
	contrib/packages.txt \
	contrib/test.sh \
	contrib/try.sh \
	contrib/try.sql
