# SPDX-License-Identifier: LGPL-3.0-or-later
"""tables.py - tables as text on standard output, and as TSV files in the results directory."""

import os


def count(number):
    """1 234 567, as the papers write them."""
    return f"{number:,}".replace(",", " ") if isinstance(number, int) else str(number)


def percent(share, digits=2):
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def ratio(number):
    return "-" if number is None else f"{number:.2f}"


def size(number):
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= factor:
            return f"{number / factor:.1f} {unit}"
    return f"{number} B"


def power(number):
    """1e-4 and not 0.0001 or 1e-04."""
    digits, _, exponent = f"{number:.0e}".partition("e")
    return f"{digits}e{int(exponent)}"


class Tables:
    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)

    def title(self, text):
        print(f"\n\n{text}\n{'=' * min(len(text), 100)}", flush=True)

    def paper(self, text):
        """What the paper has to say."""
        for n, line in enumerate(text.splitlines()):
            print(("paper:  " if n == 0 else "        ") + line)
        print()

    def note(self, text):
        print("\n" + text, flush=True)

    def table(self, name, heads, rows, shown=None):
        """Text; `rows` go into NAME.tsv as they are, `shown` gives the text of each cell."""
        self.write(name, heads, rows)
        self.text(heads, [shown(row) if shown else row for row in rows])

    def text(self, heads, rows):
        cells = [[str(cell) for cell in row] for row in rows]
        widths = [max(len(row[n]) for row in [heads, *cells]) for n in range(len(heads))]
        for row in [heads, *cells]:
            first, *others = (cell.ljust(width) if n == 0 else cell.rjust(width)
                              for n, (cell, width) in enumerate(zip(row, widths)))
            print("  ".join([first, *others]).rstrip())
        print(flush=True)

    def write(self, name, heads, rows):
        with open(os.path.join(self.directory, name + ".tsv"), "w") as out:
            for row in [heads, *rows]:
                out.write("\t".join("" if cell is None else str(cell) for cell in row) + "\n")
