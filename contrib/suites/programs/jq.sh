# SPDX-License-Identifier: LGPL-3.0-or-later
jq -n '[range(200000) | {k: (. * 7919 % 1009), v: .}] | group_by(.k) | map({k: .[0].k, n: length, s: (map(.v) | add)}) | sort_by(.n) | .[:3]' | md5sum
jq -n 'error("no")' || echo $?
