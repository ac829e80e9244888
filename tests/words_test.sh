#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Words that only this project knew do not come back: in names, file names, comments, messages, help
# and manual. A word is found in any case and between underscores (door_open, DOOR_MAX).
set -u
cd "$HCCT_SRCDIR" || exit 1
status=0
sources="client common daemon preload"
texts="README man doc contrib tests Makefile.am configure.ac"
[ ! -f README.md ] || texts="$texts README.md"

# files DIR...: what is read. Panes of a page, and of a terminal, are called so everywhere.
files() {
    find "$@" -type f ! -path '*/page/*' ! -path '*/corpus/*' ! -path '*/__pycache__/*' \
        ! -name '*.png' ! -name '*.o' ! -name 'terminal_picture.py' ! -name 'screenshots.sh' ! -name 'screen.py' \
        ! -name 'words_test.sh'
}

# no WORD INSTEAD WHERE EXCEPTION: WORD is an expression; lines that match EXCEPTION may have it.
no() {
    found=$(files $3 | xargs grep -nIiE "(^|[^a-z])($1)([^a-z]|\$)" | grep -vE "$4")
    names=$(files $3 | sed 's|.*/||' | grep -iE "(^|[^a-z])($1)([^a-z]|\$)" | grep -vE "$4")
    [ -n "$found$names" ] || return 0
    echo "say $2:"
    printf '%s\n' "$found" "$names" | sed '/^$/d; s/^/    /'
    status=1
}

none='^$'
all="$sources $texts"
no 'doors?' 'acceptor, socket, connection' "$all" "$none"
# perf calls code of a virtual machine so
no 'guests?' 'peer (of a connection), application' "$all" '\[\(kernel\|guest'
no 'freez(e|es|ing|er)|froze|frozen' 'assemble, copy, snapshot' "$all" "$none"
no 'panes?' 'sub-window' "$all" "$none"
# a key of reports, and names of members in checkpoints, are called so for good
no 'ships?|shipping|shipped|shipped_[a-z_]*|[a-z_]*_shipped|shipped stacks?' 'raw stack sample, deferred unwinding' \
    "$all" 'NAMED\("stats\.ships\.|"shipped"|, shipped ,'
no 'wish|wishes|wished|grants?' 'request, response' "$sources tests man" "$none"
no 'told|told_[a-z]*|[a-z]*_told' 'sent, reported, grouped (by)' "$sources man" 'told to'
no 'owed|owes' 'unsent' "$sources" "$none"
no 'settle|settles|settled|unsettled' 'flush, wait, compact, write back, trim' "$sources" "$none"
no 'distrusts?|trusts?|[a-z_]*_trust(ed)?|trust_[a-z_]*' 'validity, invalidate, protected' "$sources" \
    '[Ww]ithout trust\.|[Tt]rusts (nothing|neither)'
no 'brief|briefs' 'minifloat, overview' "$sources" "$none"
no 'looked at|(a|the|each|one|first|last|next|two|early) look|look_(at|on|ns|again)|[a-z]*_looks?' 'sample, check, read' \
    "$sources man" '[Ll]ook[-_]up'
no 'human_[a-z]*|human\.[ch]' 'format_number' "$sources tests" "$none"
no 'own weights?' 'self weight' "$sources man README.md" "$none"
no 'held against' 'compared with' "$sources man README.md" "$none"
exit $status
