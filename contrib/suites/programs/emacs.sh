# SPDX-License-Identifier: LGPL-3.0-or-later
emacs -Q --batch --eval '(progn
(let ((s 0)) (dotimes (i 400000) (setq s (mod (+ (* s 31) i) 1000003))) (princ (format "%d\n" s)))
(princ (shell-command-to-string "echo child"))
(with-temp-buffer (dotimes (i 4000) (insert (format "line %d\n" i))) (goto-char 1)
 (let ((n 0)) (while (re-search-forward "7+" nil t) (setq n (1+ n))) (princ (format "%d\n" n))))
(princ (format "%S\n" (with-timeout (0.3 "limit") (sleep-for 5) "slept")))
(let ((th (make-thread (lambda () (let ((s 0)) (dotimes (i 50000) (setq s (+ s i))) s))))) (princ (format "%d\n" (thread-join th))))
(kill-emacs 6))'
