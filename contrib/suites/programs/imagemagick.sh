# SPDX-License-Identifier: LGPL-3.0-or-later
# OpenMP
convert-im6.q16 -size 600x400 plasma:red-blue -seed 3 p.png
convert-im6.q16 -size 500x500 -seed 7 xc: +noise Random -blur 0x6 -resize 70% -sharpen 0x2 -rotate 20 ppm:- | md5sum
convert-im6.q16 -size 300x300 gradient:red-blue -swirl 180 -quantize YUV -colors 16 ppm:- | md5sum
identify-im6.q16 -format "%m %w %h\n" p.png
