# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Figures 4 to 7 and table 1 of li-2013: accurate counting Bloom filters beside a plain one."""

import math

from output import Panel, source_of, table

KEYS, QUERIES, RUNS = 100000, 1000000, 4
RATIOS = range(8, 21, 2)  # m/n
LEVELS = {"1m": "'#1f77b4'", "2m": "'#2ca02c'", "3m": "'#ff7f0e'", "optimal": "'#d62728'"}
WAYS = {"3": "k = 3", "optimal": "k = (m/n) ln 2"}
# What the paper prints as "up to", percent less than l1 = 1m, 2m and 3m.
PRINTED = {("3", 4): (97.6, 83.7, 48.1), ("3", 5): (96.0, 76.6, 35.5),
           ("optimal", 4): (None, 99.8, 69.6), ("optimal", 5): (98.4, None, None)}
TABLE_1 = {"1m": 0.01772, "optimal": 0.00491}


def hashes(way, ratio):
    return 3 if way == "3" else math.ceil(ratio * math.log(2))


def first_bits(level, ratio, k):
    """Of level 1 for a key: Eq. 4 and 6."""
    return 4 * ratio - k if level == "optimal" else int(level[0]) * ratio


def model(level, ratio, k):
    """Eq. 3."""
    return (-math.expm1(-k / first_bits(level, ratio, k))) ** k


def options(way, ratio, level, seed):
    return ("acbf", "--counters", str(ratio), "--positions", str(hashes(way, ratio)), "--l1", level,
            "--domain", str(KEYS), "--records", str(QUERIES), "--runs", str(RUNS), "--seed", str(seed))


def row_of(way, ratio, level, result):
    source = source_of(result)
    k = result["hashes"]
    expected = model(level, ratio, k)
    error = math.sqrt(expected / (QUERIES * RUNS)) + k / 3 * 0.002 * expected
    return {"k": way, "hashes": k, "ratio": ratio, "l1": level, "fpr": result["fpr"],
            "fpr_sd": result["fpr_sd"], "fpr_theory": expected, "errors":
            (result["fpr"] - expected) / error, "query_ns": result["query_ns"],
            "plain_query_ns": result["plain_query_ns"], "update_ns": result["update_ns"],
            "plain_update_ns": result["plain_update_ns"], "update_words": result["update_words"],
            "update_words_equation": result["update_words_equation"],
            "memory_bytes": result["memory_bytes"], "paper_bytes": result["paper_bytes"],
            **source, "options": f"acbf {source['options']}"}


def some_of(rows, **which):
    return [row for row in rows if all(row[name] == value for name, value in which.items())]


def panel_of(rows, way, name, label, log=False):
    panel = Panel(f"m/n, {WAYS[way]}", label, log)
    for level, colour in LEVELS.items():
        panel.curve(f"l1 = {level}", [(row["ratio"], row[name]) for row in
                                      some_of(rows, k=way, l1=level)],
                    f"linespoints linecolor {colour}")
    if name in ("query_ns", "update_ns"):
        panel.curve("counting filter", [(row["ratio"], row[f"plain_{name}"]) for row in
                                        some_of(rows, k=way, l1="1m")],
                    "lines dashtype 2 linecolor 'black'")
    return panel


def plot(out, rows):
    for figure, name, label, log, title in (
            (4, "fpr_theory", "FPR by Eq. 3", True, "false positives in theory"),
            (5, "fpr", "FPR", True, "false positives"),
            (6, "query_ns", "ns", False, "a question"),
            (7, "update_ns", "ns", True, "an update")):
        out.plot(f"li-{figure}", [panel_of(rows, way, name, label, log) for way in WAYS],
                 f"li-2013, figure {figure}: {title}",
                 f"n = {KEYS}, {QUERIES} questions about other keys, a fifth of the keys exchanged, mean of "
                 f"{RUNS} runs.")


def is_measurable(row):
    """Are there enough false positives to say more than that there are few?"""
    return row["fpr_theory"] * QUERIES * RUNS > 20


def reductions(rows, way, name):
    """
    The most that l1 = optimal saves of l1 = 1m, 2m, 3m over all m/n where both can be measured, or
    in theory all, in percent.
    """
    def saved(level, ratio):
        pair = [some_of(rows, k=way, l1=which, ratio=ratio)[0] for which in (level, "optimal")]
        if name == "fpr" and not all(map(is_measurable, pair)):
            return 0
        return 100 * (1 - pair[1][name] / pair[0][name])

    return [max(saved(level, ratio) for ratio in RATIOS) for level in ("1m", "2m", "3m")]


def percent(values):
    return " / ".join("-" if value is None else f"{value:.1f}" for value in values)


def report_reductions(out, rows):
    found = [{"k": WAYS[way], "theory": percent(reductions(rows, way, "fpr_theory")),
              "measured": percent(reductions(rows, way, "fpr")),
              "figure_4": percent(PRINTED[way, 4]), "figure_5": percent(PRINTED[way, 5])}
             for way in WAYS]
    out.say("How many percent of the false positives of l1 = 1m / 2m / 3m the largest level 1 saves, "
            "at the m/n where that is most:",
            table(found, {"k": "k", "by Eq. 3": "theory", "measured": "measured",
                          "figure 4 prints": "figure_4", "figure 5 prints": "figure_5"}),
            "Measured are only those m/n at which more than 20 false positives are expected. The print of "
            "figure 4 with k = 3 is Eq. 3 at m/n = 12.5; at 20 it saves more. That of figure 5 is off: a "
            "floor of 2.8e-4 below all rates gives it. The theory is the target here.")


def report_table_1(out, rows):
    found = [{"l1": level, "printed": printed, **{
        name: f"{some_of(rows, k='3', ratio=10, l1=level)[0][name]:.6f}" for name in
        ("fpr", "fpr_theory")}} for level, printed in TABLE_1.items()]
    out.say("Table 1, m/n = 10, k = 3, whose data (patent citations) are not needed for its rates:",
            table(found, {"l1": "l1", "printed": "printed", "by Eq. 3": "fpr_theory",
                          "measured": "fpr"}),
            "Its .00491 contradicts Eq. 7 by a factor of ten: a zero was probably dropped.")


def report_costs(out, rows):
    out.say("Costs at m/n = 10 and 20. The paper's update takes 1.4 to 4.2 ms, since a count begins at the "
            "beginning of its level (words by Eq. 2); here it begins at the next of many known counts, over the same "
            "levels. Times were taken with other runs beside.",
            table([row for row in rows if row["ratio"] in (10, 20)], {
                "k": "hashes", "m/n": "ratio", "l1": "l1",
                "question, ns": lambda row: f"{row['query_ns']:.0f}",
                "counting filter": lambda row: f"{row['plain_query_ns']:.0f}",
                "update, ns": lambda row: f"{row['update_ns']:.0f}",
                "counting filter's": lambda row: f"{row['plain_update_ns']:.0f}",
                "words": lambda row: f"{row['update_words']:.0f}",
                "words by Eq. 2": lambda row: f"{row['update_words_equation']:.0f}",
                "memory over the paper's": lambda row:
                    f"{100 * (row['memory_bytes'] / row['paper_bytes'] - 1):+.2f} %"}))


def report(out, runs, seed):
    """Returns what is further from the theory than chance takes it."""
    keys = [(way, ratio, level) for way in WAYS for ratio in RATIOS for level in LEVELS]
    found = runs.ask(options(*key, seed) for key in keys)
    rows = [row_of(*key, found[options(*key, seed)]) for key in keys]
    out.say("## Figures 4 to 7 and table 1 of li-2013", """
An accurate counting Bloom filter of m counters of 4 bits: level 1 of m, 2m, 3m or 4m - kn bits (optimal).""")
    out.csv("li.csv", rows)
    plot(out, rows)
    judged = list(filter(is_measurable, rows))
    off = [row for row in judged if abs(row["errors"]) > 5]
    out.say(f"{len(judged) - len(off)} of the {len(judged)} rates of which more than 20 false positives are "
            "expected are within 5 standard errors of Eq. 3.")
    report_reductions(out, rows)
    report_table_1(out, rows)
    report_costs(out, rows)
    return [f"li: k = {row['hashes']}, m/n = {row['ratio']}, l1 = {row['l1']}: FPR {row['fpr']:.3g}, "
            f"Eq. 3 {row['fpr_theory']:.3g}" for row in off]
