# SPDX-License-Identifier: LGPL-3.0-or-later
# signals and engines on stacks of its own
swipl -q -g '
numlist(1, 60000, L), foldl([X, A, B]>>(B is (A * 31 + X) mod 1000003), L, 0, S), writeln(S),
findall(T, (between(1, 4, I), thread_create((numlist(1, 20000, K), sum_list(K, M), thread_exit(I-M)), T)), Ts),
forall(member(T, Ts), (thread_join(T, St), writeln(St))),
catch(call_with_time_limit(0.3, (repeat, fail)), E, (print_message(silent, E), E = time_limit_exceeded(_) -> writeln(limit) ; writeln(limit))),
shell("echo child"), concurrent_maplist([X2, Y2]>>(Y2 is X2 * X2), [1, 2, 3, 4], Ys), writeln(Ys),
halt(9)' </dev/null
