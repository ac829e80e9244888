# SPDX-License-Identifier: LGPL-3.0-or-later
sbcl --noinform --non-interactive --load s.lisp
