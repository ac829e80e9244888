# SPDX-License-Identifier: LGPL-3.0-or-later
gdb -q -nx -batch -ex "break leaf if n==300" -ex run -ex "p n" -ex "bt 2" -ex finish -ex "stepi 200" \
    -ex "info registers rip" -ex "delete" -ex continue --args ./debugged 2>&1 |
    grep -vE "Thread 0x|libthread|process [0-9]|Error disabling|Inferior"
