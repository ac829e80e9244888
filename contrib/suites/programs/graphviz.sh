# SPDX-License-Identifier: LGPL-3.0-or-later
{
    echo 'digraph g {'
    for i in $(seq 250); do echo "n$i -> n$((i * 7 % 250)); n$i -> n$((i * 13 % 250));"; done
    echo '}'
} >g.dot
dot -Tplain g.dot | md5sum
neato -Tplain g.dot | wc -l
