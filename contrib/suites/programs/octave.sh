# SPDX-License-Identifier: LGPL-3.0-or-later
octave-cli --no-init-file --eval '
a = reshape(mod((1:90000) * 7919, 1009), 300, 300); b = a * a; printf("%d\n", sum(b(:)));
s = svd(a); printf("%.6g\n", s(1)); f = abs(fft(a(:))); printf("%.6g\n", sum(f));
s = 0; for i = 1:300000, s = mod(s * 31 + i, 1000003); end, printf("%d\n", s);
[st, out] = system("echo child"); printf("%d %s", st, out);
pause(0.2); exit(6)'
