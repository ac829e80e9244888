# SPDX-License-Identifier: LGPL-3.0-or-later
erl -noshell -eval '
F = fun F(0, S) -> S; F(N, S) -> F(N - 1, (S * 31 + N) rem 1000003) end, P = self(),
[spawn(fun() -> P ! {K, F(300000, K)} end) || K <- lists:seq(1, 4)],
io:format("~p~n", [lists:sort([receive X -> X end || _ <- lists:seq(1, 4)])]), timer:sleep(200),
io:format("~s", [os:cmd("echo command")]), halt(3).'
