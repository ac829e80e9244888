# SPDX-License-Identifier: LGPL-3.0-or-later
# a runtime with a timer of its own, green threads on several system threads, signals
./h +RTS -N3
./h +RTS -N1 -V0.001
