# SPDX-License-Identifier: LGPL-3.0-or-later
for i in $(seq 300); do printf '# Part %d\n\nSome *words* and `code` and [a link](x%d).\n\n- a\n- b\n\n' $i $i; done >t.md
pandoc -f markdown -t html t.md | md5sum
pandoc -f markdown -t docx t.md -o t.docx
pandoc -f docx -t plain t.docx | md5sum
