/usr/bin/python3 -B p.py
