# SPDX-License-Identifier: LGPL-3.0-or-later
printf '%%!\n/f { 300 { rand 600 mod rand 800 mod 2 copy moveto 20 0 360 arc stroke } repeat } def 5 srand f showpage /Times-Roman findfont 20 scalefont setfont 1 1 700 { 50 exch moveto (text) show } for showpage\n' >p.ps
gs -q -dBATCH -dNOPAUSE -dNumRenderingThreads=3 -dBandHeight=100 -dMaxBitmap=100000 -sDEVICE=ppmraw -r150 -sOutputFile=o%d.ppm p.ps
md5sum o1.ppm o2.ppm
