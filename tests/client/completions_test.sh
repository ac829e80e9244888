#!/bin/bash
# SPDX-License-Identifier: LGPL-3.0-or-later
# Completion: what is offered is what hcct takes.
set -u
PATH=$HCCT_BUILDDIR/client:$PATH
status=0
. "$HCCT_SRCDIR/contrib/completions/hcct"

# offers WANTED WORD...: completing the last of these words offers at least WANTED (words of it).
offers() {
    local wanted=$1 word
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _hcct 2>/dev/null
    for word in $wanted; do
        if ! printf '%s\n' "${COMPREPLY[@]}" | grep -q -x -e "$word"; then
            echo "'$*' does not offer $word, but: ${COMPREPLY[*]}"
            status=1
        fi
    done
}

# offers_only WANTED WORD...: and nothing else.
offers_only() {
    offers "$@"
    if [ "$(printf '%s\n' "${COMPREPLY[@]}" | sort)" != "$(printf '%s\n' $1 | sort)" ]; then
        echo "'${*:2}' offers '${COMPREPLY[*]}', not '$1'"
        status=1
    fi
}

formats=$(hcct report --format none /dev/null 2>&1 | sed 's/.*there are: //; s/,//g; s/ or / /')
offers_only "record replay report" hcct re
offers "record hot list report help --version" hcct ""
offers_only "--budget --burst --by" hcct record --b
offers_only "function site line module thread label" hcct record --by ""
offers_only "line label" hcct hot --by l
offers_only "$formats" hcct report --format ""
offers_only "text json" hcct list --format ""
offers "hot list" hcct help ""
offers "-p --process --by --phi" hcct hot -
offers "$HCCT_SRCDIR/SECURITY.md" hcct report "$HCCT_SRCDIR/SECU"
offers "ls" hcct record -F 100 -- ls
offers "ls" hcct record --by line ls
offers "$HCCT_SRCDIR/SECURITY.md" hcct record --by line ls "$HCCT_SRCDIR/SECU"

if command -v zsh >/dev/null && ! zsh -n "$HCCT_SRCDIR/contrib/completions/_hcct"; then
    status=1
fi
exit $status
