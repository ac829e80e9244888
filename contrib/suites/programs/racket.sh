# SPDX-License-Identifier: LGPL-3.0-or-later
racket -e '
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (displayln (fib 27))
(define ts (for/list ([i 4]) (thread (lambda () (for ([k 100000]) (* k k))))))
(for-each thread-wait ts) (displayln "threads")
(displayln (for/sum ([f (for/list ([i 3]) (future (lambda () (for/fold ([s 0]) ([k 300000]) (modulo (+ (* s 31) k i) 1000003)))))]) (touch f)))
(displayln (call/cc (lambda (k) (for ([i 1000]) (when (= i 700) (k i))) 0)))
(sleep 0.2) (exit 7)'
