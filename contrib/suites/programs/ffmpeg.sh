# SPDX-License-Identifier: LGPL-3.0-or-later
# x264 with two threads has several results, without an agent, too
ffmpeg -v error -f lavfi -i testsrc2=size=320x180:rate=25:duration=4 -pix_fmt yuv420p v.y4m
ffmpeg -v error -i v.y4m -c:v libx264 -threads 1 -bitexact -f h264 v.264
md5sum v.264
ffmpeg -v error -threads 2 -i v.264 -f rawvideo - | md5sum
ffmpeg -v error -f lavfi -i sine=frequency=300:duration=20 -c:a aac -f adts - | md5sum
x264 --quiet --threads 1 -o x.264 v.y4m 2>/dev/null
md5sum x.264
