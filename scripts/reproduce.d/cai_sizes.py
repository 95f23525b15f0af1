# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Figures 8 to 10 of cai-2014: joint detection over the sizes of lists, and the coordinator's time."""

import cai
from output import Panel, source_of, table

MOST = (200, 400, 500, 600, 800, 1000)  # thousands of keys
LEAST = (1, 100, 300, 500, 700, 900)
LOOKS = {**cai.LOOKS, "smallest-first": "'#9467bd'"}
GAINS = {200: 71, 500: 86, 1000: 89}  # per cent, as the text of figure 8 says
# Milliseconds of figure 9: of a coordinator with filters, and with raw data.
PRINTED_MS = {200: (3, 11), 400: (7, 22), 600: (14, 33), 800: (22, 42), 1000: (30, 50)}


def ask(runs, monitors, algorithms, ranges, how):
    """{(algorithm, range): result}; range: least and most thousands of keys."""
    wanted = {(name, keys): cai.options(monitors, "0.001", name, "0.5", how, keys)
              for name in algorithms for keys in ranges}
    results = runs.ask(wanted.values())
    return {key: results[options] for key, options in wanted.items()}


def row_of(figure, key, result, scale):
    source = source_of(result)
    return {"figure": figure, "algorithm": key[0], "least_keys": 1000 * key[1][0],
            "most_keys": 1000 * key[1][1], "total_mbit": result["total_mbit"] * scale,
            "formula_mbit": None if result["formula_mbit"] is None else result["formula_mbit"] * scale,
            "coordinator_seconds": result["coordinator_seconds"],
            "misclassified": result["misclassified"], "lost": result["lost"],
            **source, "options": f"joint {source['options']}"}


def panel(results, algorithms, value, x, y):
    """x: the label, and which end of the range."""
    drawn = Panel(x[0], y)
    for name in algorithms:
        drawn.curve(name, [(keys[x[1]], value(result)) for (other, keys), result in results.items()
                           if other == name], f"linespoints linecolor {LOOKS[name]}")
    return drawn


def report_gains(out, results):
    """Figure 8. Returns what is not as the paper says: the more sizes differ, the more is gained."""
    def gain(most, over):
        cfsp, other = (results[name, (100, most)]["formula_mbit"] for name in ("cfsp", over))
        return 100 * (1 - cfsp / other)

    def saved(most):
        best, bfs = (results[name, (100, most)]["total_mbit"] for name in ("best", "bfs"))
        return 100 * (1 - best / bfs)

    rows = [{"most": most, "printed": printed, "bfs": gain(most, "bfs"), "raw": gain(most, "raw"),
             "best": saved(most)} for most, printed in GAINS.items()]
    out.say("Figure 8, n = 10: what is saved, %, with lists of 100000 to so many thousands of keys. The paper does not say "
            "over what.",
            table(rows, {"most": "most", "printed": "printed",
                         **{heading: lambda row, key=key: f"{row[key]:.0f}" for heading, key in {
                             "cfsp over bfs, formula": "bfs", "cfsp over raw, formula": "raw",
                             "best over bfs, encoded": "best"}.items()}}))
    gains = [row["bfs"] for row in rows]
    return [] if gains == sorted(gains) else ["cai: figure 8: gains over bfs do not grow with the range"]


def report_time(out, results, scale):
    """Figure 9: other machines take other times; what compares is one algorithm with another."""
    def ratio(name, most):
        return results["raw", (1, most)]["coordinator_seconds"] / \
            results[name, (1, most)]["coordinator_seconds"]

    rows = [{"most": most, "printed": printed[1] / printed[0],
             "raw_ms": 1000 * results["raw", (1, most)]["coordinator_seconds"],
             **{name: ratio(name, most) for name in ("bfs", "cfs", "cfsp", "best")}}
            for most, printed in PRINTED_MS.items()]
    out.say(f"Figure 9, n = 50: times that the coordinator is faster than with raw data (lists of 1/{scale}; the print's "
            "raw data takes 11 to 50 ms, its filters 3 to 30).",
            table(rows, {"most": "most", "raw, ms": lambda row: f"{row['raw_ms']:.1f}",
                         "printed": lambda row: f"{row['printed']:.1f}",
                         **{name: lambda row, name=name: f"{row[name]:.1f}"
                            for name in ("bfs", "cfs", "cfsp", "best")}}),
            "Here filters are lists of what is set: they are decoded, expanded and coded again, where the paper's coordinator "
            "combines words of bits.")


def report_smallest(out, results, scale):
    """Figure 10. Returns what is not as the paper says: what smallest first sends grows faster."""
    least = [LEAST[0], LEAST[-1]]
    rows = [{"least": keys, **{name: scale * results[name, (keys, 1000)]["total_mbit"]
                               for name in LOOKS}} for keys in least]
    out.say("Figure 10, n = 50: Mb with lists of so many thousands to 1000000 keys, as encoded.",
            table(rows, {"least": "least", **{name: lambda row, name=name: f"{row[name]:.1f}"
                                              for name in LOOKS}}),
            "Smallest first is counted as one multicast for each step. With few common keys it then takes about as "
            "little as cfsp, where the paper has it above.")
    growth = {name: rows[1][name] - rows[0][name] for name in ("cfsp", "smallest-first")}
    return [] if growth["smallest-first"] > growth["cfsp"] else \
        ["cai: figure 10: smallest first does not grow faster than cfsp"]


def report(out, runs, seed, scale, repeat):
    """Returns what is not as the paper says."""
    how = cai.how_of(seed, scale, repeat)
    scale = how[0]
    few = (scale, how[1], max(1, how[2] // 5))  # fifty lists for each
    by_most = ask(runs, 10, cai.LOOKS, [(100, most) for most in MOST], how)
    by_time = ask(runs, 50, cai.LOOKS, [(1, most) for most in PRINTED_MS], few)
    by_least = ask(runs, 50, LOOKS, [(least, 1000) for least in LEAST], few)
    out.say("## Figures 8 to 10 of cai-2014")
    out.csv("cai-sizes.csv", [row_of(figure, key, result, scale) for figure, results in
                              ((8, by_most), (9, by_time), (10, by_least))
                              for key, result in results.items()])
    off = report_gains(out, by_most)
    report_time(out, by_time, scale)
    off += report_smallest(out, by_least, scale)
    mbit = "Mb, up and down"
    out.plot("cai-8-10", [
        panel(by_most, cai.LOOKS, lambda row: row["total_mbit"] * scale, ("most keys, thousands", 1), mbit),
        panel(by_time, cai.LOOKS, lambda row: row["coordinator_seconds"] * 1000,
              ("most keys, thousands", 1), f"ms of the coordinator, lists of 1/{scale}"),
        panel(by_least, LOOKS, lambda row: row["total_mbit"] * scale, ("least keys, thousands", 0), mbit)],
             "cai-2014, figures 8 to 10: communication and time over the sizes of lists",
             "eps = 0.001, R = 0.5, n = 10 (figure 8) and 50.")
    lost = sum(result["lost"] for results in (by_most, by_time, by_least) for result in results.values())
    return off + (["cai: a common key was lost in figures 8 to 10"] if lost else [])
