# SPDX-License-Identifier: LGPL-3.0-or-later
# sandboxed processes that begin by clone
mkdir p
timeout 100 firefox-esr --headless --no-remote --profile "$PWD/p" --window-size 400,300 --screenshot "$PWD/s.png" "file://$PWD/page.html" >out 2>err || echo $?
head -c 8 s.png | od -An -c
