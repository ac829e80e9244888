# SPDX-License-Identifier: LGPL-3.0-or-later
bash -c '
trap "echo usr1" USR1; for i in {1..50000}; do :; done; kill -USR1 $$; sleep 0.2 & wait; (exit 3); echo $?
for i in {1..60}; do (for k in {1..2000}; do :; done; echo $i); done
coproc cat; echo hello >&${COPROC[1]}; read -u ${COPROC[0]} x; echo $x
seq 200000 | sort -R | sort -n | tail -1; diff <(seq 30000) <(seq 30000 | tac | tac) && echo same
ulimit -t 1; (while :; do :; done); echo $?; exit 9' 2>err || echo $?
sed "s/^bash: line [0-9]*: *[0-9]* //" err >&2
