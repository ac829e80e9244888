# SPDX-License-Identifier: LGPL-3.0-or-later
java -cp . J || echo $?
java -Xint -XX:+UseSerialGC -cp . J || echo $?
