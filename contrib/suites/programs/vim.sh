# SPDX-License-Identifier: LGPL-3.0-or-later
printf '%s\n' one two three >text
vim -es -u NONE -i NONE -n text -c 'let s = 0 | for i in range(30000) | let s = (s * 31 + i) % 1000003 | endfor
' -c 'call setline(2, string(s))' -c '%s/e/E/g' -c 'put =system(\"echo child\")' -c 'sleep 200m' -c 'wq' || echo $?
cat text
