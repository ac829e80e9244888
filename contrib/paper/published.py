# SPDX-License-Identifier: LGPL-3.0-or-later
"""published.py - the papers' figures, as far as their text gives them as numbers.

[1] D'Elia, Demetrescu, Finocchi: Mining hot calling contexts in small space (2015).
[2] Arnold, Sweeney: Approximating the Calling Context Tree via Sampling (IBM RC 21789).

Where a figure is a picture only, what the text says of it stands here.
"""

# [1] Table I: nodes of the call graph, call sites, nodes of the CCT, calls ("call tree").
TABLE_1 = [
    ("amarok", 13754, 113362, 13794470, 991112563),
    ("ark", 9933, 76547, 8171612, 216881324),
    ("audacity", 6895, 79656, 13131115, 924534168),
    ("bluefish", 5211, 64239, 7274132, 248162281),
    ("dolphin", 10744, 84152, 11667974, 390134028),
    ("firefox", 6756, 145883, 30294063, 625133218),
    ("gedit", 5063, 57774, 4183946, 407906721),
    ("ghex2", 3816, 39714, 1868555, 80988952),
    ("gimp", 5146, 93372, 26107261, 805947134),
    ("gwenview", 11436, 86609, 9987922, 494753038),
    ("inkscape", 6454, 89590, 13896175, 675915815),
    ("oocalc", 30807, 394913, 48310585, 551472065),
    ("oaimpress", 16980, 256848, 43068214, 730115446),
    ("oowriter", 17012, 253713, 41395182, 563763684),
    ("pidgin", 7195, 80028, 10743073, 404787763),
    ("quanta", 13263, 113850, 27426654, 602409403),
    ("sudoku", 5340, 49885, 2794177, 325944813),
    ("vlc", 5692, 47481, 3295907, 125436877),
    ("botan", 3388, 27114, 308550, 26272804980),
    ("cairo-perf-trace", 1408, 3696, 137920, 15976619734),
    ("crafty", 107, 516, 36434095, 10403074070),
    ("fhourstones", 18, 32, "OOM", 39272563944),
    ("gobmk", 1133, 4049, "OOM", 21909088291),
    ("ice-labyrinth", 2335, 8050, 2160052, 1637076406),
    ("mount-herring", 2318, 8269, 3733120, 3311257932),
    ("overworld", 14173, 50394, 3774937, 4112679880),
    ("scotland", 13932, 51206, 1813368, 5982612379),
    ("sjeng", 57, 221, "OOM", 28370207811),
]

# [1] Table II: nodes of the HCCT by phi, nodes of the CCT.
TABLE_2_PHI = [1e-3, 1e-5, 1e-7]
TABLE_2 = [
    ("audacity", [112, 9181, 233362], 13131115),
    ("dolphin", [97, 14563, 978544], 11667974),
    ("gimp", [96, 15330, 963708], 26107261),
    ("ice-labyrinth", [93, 9413, 529945], 2160052),
    ("inkscape", [80, 16713, 830191], 13896175),
    ("oocalc", [136, 13414, 1339752], 48310585),
    ("quanta", [94, 13881, 812098], 27426654),
]

FIGURE_4 = "phi >= 1e-4: less than 1 % of the CCT for most benchmarks, at worst 4.1 %"
FIGURE_5 = """static bursting alone does not reduce space substantially; Space Saving with
bursts takes less than without; peak about 1 % of the CCT (introduction); the figure is a picture"""

# [1] Figure 6 and its text: slowdowns of native runs.
FIGURE_6 = {
    "empty": "1.21 on average",
    "exact": "2.45 on average, 3.56 at most (mount-herring); three programs out of memory",
    "space-saving": "2.90 on average, 3.09 with the three for which exact has no memory",
    "burst": "1.58 on average, 2.62 at most (fhourstones)",
    "against gprof": "with bursts 1.18 of gprof on average, 2.34 at most, 1/1.55 at least",
}

FIGURE_7 = "phi = 1e-4: overlap down to 10 % (oocalc, firefox); coverage is 100 % for tau >= 0.01"
FIGURE_8 = """of contexts not in the tree: on average about 0.01 % of the hottest one's count, at
most typically less than 10 %"""
FIGURE_9 = "false positives less than 10 % of the nodes at worst, 0 to 5 % for most"
FIGURE_10 = "close to 0 % on most benchmarks when phi / epsilon is above 10"
FIGURE_11 = "average error of hot contexts below 2 % for most, above 4 % only for crafty"
FIGURE_12 = """average error of hot contexts 6.89 % to 17.31 % with bursts of 2 ms every 20 ms;
coverage is 100 % from twice the least tau at which it is 100 % without bursts, below 90 % in only
one case (mount-herring)"""

# [2] figures 1 to 5: bars of the 40 hottest edges, pictures.
REPORT_INTERVALS = [59, 307, 1559]
REPORT = """every 59th call, all new edges (figure 2): "no apparent correlation"; the last edge
only: every 59th (figure 3) deviates by a small amount, every 307th and 1559th (figures 4, 5)
degrade but stay acceptable; one program (javap)"""
