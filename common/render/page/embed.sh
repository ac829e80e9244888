#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# embed.sh HTML CSS JS...: prints the page as C strings, its style and its scripts each with the
# hash by which the page's security policy knows them.
set -eu

hash() {
    # as the policy wants it: the digest's bytes in base 64
    printf "sha256-"
    sha256sum | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64 | tr -d '\n'
}

literal() {
    printf 'static const char %s[] =\n    ""\n' "$1"
    sed -e 's/[\\"]/\\&/g' -e 's/.*/    "&\\n"/'
    printf '\n    ;\n\n'
}

script() {
    # one scope of its own, and no name in the way of the browser's
    printf '"use strict";\n(() => {\n'
    cat "$@"
    printf '})();\n'
}

html=$1 css=$2
shift 2
printf '/* Made from page/ by embed.sh. */\n\n'
literal page_style <"$css"
hash <"$css" | literal page_style_hash | sed 's/\\n"/"/'
literal page_body <"$html"
script "$@" | literal page_script
script "$@" | hash | literal page_script_hash | sed 's/\\n"/"/'
