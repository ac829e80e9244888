# SPDX-License-Identifier: LGPL-3.0-or-later
gnuplot -e 'set terminal svg; set output "p.svg"; set isosamples 120; splot [-4:4] [-4:4] sin(x*x+y*y); s = 0; do for [i=1:50000] { s = s + i }; set output; print s'
md5sum p.svg
