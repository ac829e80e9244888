# SPDX-License-Identifier: LGPL-3.0-or-later
for i in $(seq 24); do
    echo "int f$i(int n) { int s = 0; for (int i = 0; i < n; i++) s = (s * 31 + i) % 1003; return s; }" >f$i.c
done
{
    echo "#include <stdio.h>"
    for i in $(seq 24); do echo "extern int f$i(int);"; done
    echo "int main(void) { int s = 0;"
    for i in $(seq 24); do echo "s += f$i($i * 1000);"; done
    echo 'printf("%d", s); puts(""); return s % 7 + 1; }'
} >main.c
printf '%s\n' 'app: $(patsubst %.c,%.o,$(wildcard *.c))' '	gcc -o $@ $^' '%.o: %.c' '	gcc -O2 -c $<' >Makefile
make -s -j2 && ./app || echo $?
make -s clean 2>&1 || echo $?
echo 'int broken(' >broken.c
make -s -k -j2 2>&1 | sort
