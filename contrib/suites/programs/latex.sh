# SPDX-License-Identifier: LGPL-3.0-or-later
{
    echo '\documentclass{article}\begin{document}\newcount\n\n=0'
    echo '\loop\ifnum\n<1500 \advance\n by 1 \section{Part \the\n} Some words and $\sum_{i=1}^{\the\n} x_i^2$ of it. \repeat'
    echo '\end{document}'
} >t.tex
pdflatex -interaction=batchmode t.tex | head -1
grep -c Overfull t.log || true
grep "Output written" t.log | sed 's/[0-9]* bytes/N bytes/'
