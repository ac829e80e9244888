# SPDX-License-Identifier: LGPL-3.0-or-later
guile --no-auto-compile -c '
(use-modules (ice-9 threads) (statprof))
(define (f n) (let loop ((i 0) (s 0)) (if (= i n) s (loop (+ i 1) (modulo (+ (* s 31) i) 1000003)))))
(display (par-map f (list 300000 400000 500000))) (newline)
(display (status:exit-val (system "exit 3"))) (newline)
(define l (let loop ((i 0) (l (list))) (if (= i 300000) (length l) (loop (+ i 1) (cons i l)))))
(display l) (newline) (usleep 200000)
(statprof (lambda () (display (f 2000000))) #:port (open-output-file "/dev/null")) (newline)
(exit 7)'
