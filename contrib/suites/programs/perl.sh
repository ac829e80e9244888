# SPDX-License-Identifier: LGPL-3.0-or-later
perl -e '
$| = 1;
my $s = 0; for (1 .. 1500000) { $s = ($s * 31 + $_) % 1000003 } print "$s\n";
$SIG{ALRM} = sub { print "alarm\n" }; alarm 1; print sleep(5) < 5 ? "woken\n" : "slept\n";
my $p = fork(); if (!$p) { exit 3 } waitpid $p, 0; print $? >> 8, "\n";
print `echo command`; system("exit 2"); print $? >> 8, "\n";
$SIG{PROF} = sub { print "prof\n" }; kill PROF => $$;
pipe my $r, my $w; for my $n (1 .. 20) { if (!fork()) { my $t = 0; $t += $_ * $n % 7 for 1 .. 20000; syswrite $w, "$n $t\n"; exit 0 } }
close $w; print sort <$r>; 1 while wait() > 0; die "the end\n"'
