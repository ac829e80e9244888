# SPDX-License-Identifier: LGPL-3.0-or-later
export GNUPGHOME=$PWD/home
mkdir -m 700 home
gpg --batch --quiet --passphrase '' --quick-generate-key test default default never 2>/dev/null
seq 100000 >plain
gpg --batch --quiet --trust-model always -r test -o cipher -e plain
gpg --batch --quiet -d cipher 2>/dev/null | cmp - plain && echo same
gpg --batch --quiet --output signed --sign plain
gpg --batch --verify signed 2>&1 | grep -o "Good signature"
gpg --batch --quiet --passphrase x --pinentry-mode loopback -o sym --symmetric --s2k-count 20000000 plain
gpg --batch --quiet --passphrase x --pinentry-mode loopback -d sym | md5sum
gpgconf --kill all
