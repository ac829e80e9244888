#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""A picture (SVG) of what a terminal shows: tmux capture-pane -p -e | terminal_picture.py > top.svg

Reads lines with the escape sequences that tmux writes: colours (SGR) and nothing else. Python's
standard library only.

  --title TEXT   for the bar above (none)
  --columns N    as wide as this (the longest line)
  --light        dark text on a light ground
"""

import argparse
import html
import re
import sys
import unicodedata

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE, MARGIN, BAR = 8.4, 18, 14, 14, 30
FONT = "'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, monospace"
DARK = {"ground": "#14171c", "text": "#d5d9e0", "bar": "#23272f", "title": "#9aa3b2",
        "colors": ["#3b4252", "#ec6a6a", "#7fc37f", "#e0b354", "#6ea8fe", "#c792ea", "#56c8d8",
                   "#d5d9e0", "#6b7485", "#ff8080", "#98e098", "#ffd479", "#8fbcff", "#dcb3ff",
                   "#80e4f0", "#ffffff"]}
LIGHT = {"ground": "#fdfdfc", "text": "#24292f", "bar": "#e9e9e6", "title": "#57606a",
         "colors": ["#24292f", "#c0392b", "#2e7d32", "#9a6700", "#0b5cad", "#7b3fa0", "#00727f",
                    "#6e7781", "#57606a", "#e5534b", "#3fa34d", "#bf8700", "#2f81d8", "#9a5fc0",
                    "#1b95a3", "#24292f"]}


class Style:
    """What SGR sequences have set so far."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.bold = self.dim = self.underline = self.reverse = False
        self.front = self.back = None

    def copy(self):
        style = Style()
        style.__dict__.update(self.__dict__)
        return style

    def extended(self, codes):
        """38 and 48: ;5;N or ;2;R;G;B."""
        if codes and codes[0] == 5 and len(codes) > 1:
            del codes[0]
            return indexed(codes.pop(0))
        if codes and codes[0] == 2 and len(codes) > 3:
            red, green, blue = codes[1:4]
            del codes[:4]
            return f"#{red & 255:02x}{green & 255:02x}{blue & 255:02x}"
        codes.clear()
        return None

    def apply(self, codes):
        codes = codes or [0]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.reset()
            elif code in (1, 2, 4, 7):
                setattr(self, {1: "bold", 2: "dim", 4: "underline", 7: "reverse"}[code], True)
            elif code == 22:
                self.bold = self.dim = False
            elif code in (24, 27):
                setattr(self, "underline" if code == 24 else "reverse", False)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.front = code - 30 if code < 90 else code - 82
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.back = code - 40 if code < 100 else code - 92
            elif code == 38:
                self.front = self.extended(codes)
            elif code == 48:
                self.back = self.extended(codes)
            elif code in (39, 49):
                setattr(self, "front" if code == 39 else "back", None)


def indexed(number):
    """A colour of the 256: the first 16 are the theme's."""
    if number < 16:
        return number
    if number < 232:
        levels = [0, 95, 135, 175, 215, 255]
        number -= 16
        return "#%02x%02x%02x" % (levels[number // 36 % 6], levels[number // 6 % 6],
                                  levels[number % 6])
    return "#%02x%02x%02x" % ((8 + 10 * (number - 232) & 255,) * 3)


def columns_of(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else
               0 if unicodedata.combining(c) else 1 for c in text)


def runs(line, style):
    """[(text, style)] of a line; the style goes on into the next one."""
    found = []
    for part in re.split(r"(\x1b\[[0-9;:]*m)", line):
        if part.startswith("\x1b["):
            style.apply([int(code or 0) for code in re.split("[;:]", part[2:-1])])
        elif part:
            text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|[\x00-\x1f\x7f]", "", part)
            found.append((text, style.copy()))
    return found


def color(value, theme, default):
    if value is None:
        return theme[default]
    return theme["colors"][value] if isinstance(value, int) else value


def draw_run(text, style, column, row, theme):
    """The rectangle below a run, and its text."""
    x, y, width = column * CELL_WIDTH, row * CELL_HEIGHT, columns_of(text) * CELL_WIDTH
    front, back = color(style.front, theme, "text"), color(style.back, theme, "ground")
    if style.reverse:
        front, back = back, front
    out = []
    if style.reverse or style.back is not None:
        out.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{CELL_HEIGHT}" '
                   f'fill="{back}"/>')
    if style.underline:
        out.append(f'<rect x="{x:.1f}" y="{y + CELL_HEIGHT - 2}" width="{width:.1f}" height="1" '
                   f'fill="{front}" opacity="0.6"/>')
    weight = ' font-weight="bold"' if style.bold else ""
    opacity = ' opacity="0.6"' if style.dim else ""
    for word in re.finditer(r"\S+", text):  # each in its place: viewers differ about blanks
        at = x + columns_of(text[:word.start()]) * CELL_WIDTH
        length = columns_of(word.group()) * CELL_WIDTH
        out.append(f'<text x="{at:.1f}" y="{y + CELL_HEIGHT - 5}" textLength="{length:.1f}" '
                   f'lengthAdjust="spacingAndGlyphs" fill="{front}"{weight}{opacity}>'
                   f"{html.escape(word.group())}</text>")
    return out


def draw(lines, columns, title, theme):
    style, body, widest = Style(), [], 0
    for row, line in enumerate(lines):
        column = 0
        for text, run_style in runs(line, style):
            body += draw_run(text, run_style, column, row, theme)
            column += columns_of(text)
        widest = max(widest, column)
    width = (columns or widest) * CELL_WIDTH + 2 * MARGIN
    top = BAR if title else 0
    height = top + len(lines) * CELL_HEIGHT + 2 * MARGIN
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
            f'viewBox="0 0 {width:.0f} {height}" font-family="{FONT}" font-size="{FONT_SIZE}">',
            f'<rect width="100%" height="100%" rx="8" fill="{theme["ground"]}"/>']
    if title:
        head += [f'<path d="M0 {BAR}V8a8 8 0 0 1 8-8H{width - 8:.0f}a8 8 0 0 1 8 8V{BAR}z" '
                 f'fill="{theme["bar"]}"/>',
                 f'<text x="{width / 2:.0f}" y="20" text-anchor="middle" fill="{theme["title"]}">'
                 f"{html.escape(title)}</text>"]
    return "\n".join([*head, f'<g transform="translate({MARGIN} {top + MARGIN})">', *body, "</g>",
                      "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--title", default="", help="for the bar above (none)")
    parser.add_argument("--columns", type=int, default=0, help="as wide as this (the longest line)")
    parser.add_argument("--light", action="store_true", help="dark text on a light ground")
    options = parser.parse_args()
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    sys.stdout.write(draw(lines, options.columns, options.title, LIGHT if options.light else DARK))


if __name__ == "__main__":
    main()
