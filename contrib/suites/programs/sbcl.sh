sbcl --noinform --non-interactive --load s.lisp
