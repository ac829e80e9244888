# SPDX-License-Identifier: LGPL-3.0-or-later
php -r '
$s = 0; for ($i = 0; $i < 3000000; $i++) { $s = ($s * 31 + $i) % 1000003; } echo $s, "\n";
pcntl_async_signals(true); pcntl_signal(SIGALRM, function () { echo "alarm\n"; }); pcntl_alarm(1);
echo sleep(5) > 0 ? "woken\n" : "slept\n";
$p = pcntl_fork(); if (!$p) exit(5); pcntl_waitpid($p, $st); echo pcntl_wexitstatus($st), "\n";
echo shell_exec("echo command"); usleep(200000);
echo preg_match_all("/a+b/", str_repeat("aaab", 50000)), "\n"; exit(4);' || echo $?
# its limit is an ITIMER_PROF of its own
php -d max_execution_time=1 -r 'while (true) {}'
