# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Figures 2 to 11 of bera-2012, and what its text says of them: no values of theirs are printed."""

import math

from bera import ENGINES
from output import Panel, source_of, table

# Figure: (millions of records, percent distinct, MiB), drawn from the runs of tables 4 to 8.
RATES = {2: (1000, 15, 128), 3: (1000, 15, 256), 4: (1000, 15, 512),
         5: (1000, 60, 128), 6: (1000, 60, 256), 7: (1000, 60, 512),
         8: (695, 15, 512), 9: (695, 60, 512), 10: (695, 90, 512)}
LOADS = {"11a": (1000, 15, 256), "11b": (1000, 15, 512)}
COLOURS = {"sbf": "'#d62728'", "rsbf": "'#ff7f0e'", "bsbf": "'#2ca02c'", "bsbfsd": "'#1f77b4'",
           "rlbsbf": "'#9467bd'"}
MODEL = "lines linewidth 1 dashtype 2 linecolor 'black'"
FIELDS = ["fpr", "fnr", "load", "load_model"]


class Course:
    """How the five filters fare along one stream: for each of them rows up to its end."""

    def __init__(self, results):
        self.rows = {engine: result.get("series", []) + [result]
                     for engine, result in results.items()}

    def rate(self, engine, name, part=1.0):
        """A rate, when that part of the stream had passed."""
        rows = self.rows[engine]
        return min(rows, key=lambda row: abs(row["records"] - part * rows[-1]["records"])).get(name, math.nan)

    def ends(self, name, engines=tuple(ENGINES)):
        return [self.rate(engine, name) for engine in engines]

    def ratios(self, name, part, engines=tuple(ENGINES)):
        """The rate at that part of the stream over the one at its end."""
        return [self.rate(engine, name, part) / self.rate(engine, name) for engine in engines]

    def gains(self, engines):
        """How many times fewer false negatives than with SBF."""
        return [self.rate("sbf", "fnr") / self.rate(engine, "fnr") for engine in engines]


def courses_of(results):
    """By stream and memory, from results by cell, of the tables that have all five filters."""
    streams = {}
    for cell, result in results.items():
        if cell.table >= 4:
            streams.setdefault(cell.stream(), {})[cell.engine] = result
    return {stream: Course(found) for stream, found in streams.items()}


def printed_courses(cells):
    """The same, but only its end, as the tables print it."""
    return courses_of({cell: {"records": 1, "fpr": cell.fpr / 100, "fnr": cell.fnr / 100}
                       for cell in cells})


def write_csv(out, number, course):
    out.csv(f"figure-{number}.csv",
            [{"figure": number, "engine": engine, "records": row["records"],
              **{name: row.get(name, "") for name in FIELDS}, **source_of(rows[-1])}
             for engine, rows in course.rows.items() for row in rows])


def curve(panel, course, engine, name, scale):
    """Against the records of the paper's stream."""
    points = [(row["records"] * scale / 1e6, row.get(name)) for row in course.rows[engine]]
    if name == "load_model":
        panel.curve("model" if engine == ENGINES[-1] else None, points, MODEL)
    else:
        panel.curve(engine, points, f"lines linewidth 2 linecolor {COLOURS[engine]}")


def name_of(stream):
    return f"{stream[0]}M records, {stream[1]} % distinct, {stream[2]} MiB"


def axis(scale):
    return "records, millions" if scale == 1 else f"records, millions (run at 1/{scale})"


def plot_rates(out, number, course, scale):
    panels = [Panel(axis(scale), "FPR"), Panel(axis(scale), "FNR", log=number <= 4)]
    for panel, rate in zip(panels, ("fpr", "fnr")):
        for engine in ENGINES:
            curve(panel, course, engine, rate, scale)
    out.plot(f"figure-{number}", panels, f"Figure {number}: {name_of(RATES[number])}")


def plot_loads(out, courses, scale):
    panels = []
    for stream in LOADS.values():
        panel = Panel(axis(scale), f"load, {stream[2]} MiB")
        for engine in ENGINES:
            curve(panel, courses[stream], engine, "load", scale)
            curve(panel, courses[stream], engine, "load_model", scale)
        panels.append(panel)
    out.plot("figure-11", panels, "Figure 11: load, 1000M records, 15 % distinct",
             "Dashed: the corrected model, see \"Where the print cannot be\".")


def percents(values, digits=2):
    return " to ".join(f"{100 * value:.{digits}f} %" for value in dict.fromkeys(
        [min(values), max(values)]))


def factors(values):
    return ", ".join(f"{value:.3g}" for value in values)


def falls(course, engine):
    """Whether the FNR only falls in the second half of the stream."""
    rows = course.rows[engine]
    last = [row["fnr"] for row in rows[len(rows) // 2:]]
    return all(a >= b for a, b in zip(last, last[1:]))


# The claims: figure, what the text says, how much, what comes out, and whether that is so.
def claims_15(of):
    two, three, four = of[2], of[3], of[4]
    ours, biased = ["rsbf", "bsbf", "bsbfsd", "rlbsbf"], ["bsbf", "bsbfsd", "rlbsbf"]
    yield 2, "FPR of all", "1 % to 2 %", percents(two.ends("fpr")), \
        0.01 <= min(two.ends("fpr")) and max(two.ends("fpr")) < 0.025
    yield 2, "FPR stable from 300M to 350M on", "at 350M, of the end's: 1", \
        factors(two.ratios("fpr", 0.35)), min(two.ratios("fpr", 0.35)) > 0.9
    yield 2, "FNR of SBF", "45 %", percents([two.rate("sbf", "fnr")]), \
        0.44 < two.rate("sbf", "fnr") < 0.47
    yield 2, "FNR of RLBSBF", "less than 1 %", percents([two.rate("rlbsbf", "fnr")]), \
        two.rate("rlbsbf", "fnr") < 0.01
    yield 2, "RLBSBF's gain over SBF in FNR", "almost 70", factors(two.gains(["rlbsbf"])), \
        60 < two.gains(["rlbsbf"])[0] < 75
    yield 2, "FNR of BSBF, BSBFSD, RLBSBF keeps falling", "yes", \
        ", ".join("falls" if falls(two, engine) else "does not" for engine in biased), \
        all(falls(two, engine) for engine in biased)
    yield 3, "FPR of all", "0.4 % to 0.6 %", percents(three.ends("fpr")), \
        0.0035 < min(three.ends("fpr")) and max(three.ends("fpr")) < 0.0065
    yield 3, "FNR from SBF to RLBSBF", "30 % to 0.2 %", \
        percents([three.rate("rlbsbf", "fnr"), three.rate("sbf", "fnr")]), \
        0.28 < three.rate("sbf", "fnr") < 0.32 and 0.0015 < three.rate("rlbsbf", "fnr") < 0.0025
    yield 3, "FNR of SBF rises", "yes", f"at half, of the end's: {three.ratios('fnr', .5)[0]:.3g}", \
        three.ratios("fnr", 0.5)[0] < 1
    yield 4, "FNR of BSBF, BSBFSD, RLBSBF", "less than 1 %", \
        ", ".join(percents([end]) for end in four.ends("fnr", biased)), \
        max(four.ends("fnr", biased)) < 0.01
    yield 4, "RSBF's gain over SBF in FNR", "2", factors(four.gains(["rsbf"])), \
        1.5 < four.gains(["rsbf"])[0] < 2.5
    yield 7, "with more memory the gains over SBF in FNR grow", "yes", \
        f"256 MiB: {factors(of[6].gains(ours))}; 512 MiB: {factors(of[7].gains(ours))}", \
        all(a < b for a, b in zip(of[6].gains(ours), of[7].gains(ours)))


def claims_60(of):
    five, six = of[5], of[6]
    gap = five.rate("rlbsbf", "fpr") - five.rate("sbf", "fpr")
    yield 5, "FNR of SBF", "70 %", percents([five.rate("sbf", "fnr")]), \
        0.675 < five.rate("sbf", "fnr") < 0.725
    yield 5, "FNR of RLBSBF", "almost 10 %", percents([five.rate("rlbsbf", "fnr")]), \
        0.09 < five.rate("rlbsbf", "fnr") < 0.11
    yield 5, "FPR of RLBSBF less SBF's", "3 points", f"{100 * gap:.2f} points", 0.025 < gap < 0.035
    ratios = five.ratios("fnr", 0.5, ("bsbf", "bsbfsd"))
    yield 5, "FNR of BSBF and BSBFSD stable from 500M on", "at 500M, of the end's: 1", \
        factors(ratios), all(0.9 < ratio < 1.1 for ratio in ratios)
    yield 6, "FPR of all", "4 % to 7 %", percents(six.ends("fpr")), \
        0.035 < min(six.ends("fpr")) and max(six.ends("fpr")) < 0.075
    gains = six.gains(["rsbf", "bsbf", "bsbfsd", "rlbsbf"])
    yield 6, "gains over SBF in FNR", "2, 2.5, 5, 10", factors(gains), \
        all(abs(a / b - 1) < 0.25 for a, b in zip(gains, (2, 2.5, 5, 10)))


def claims_695(of):
    spread = [max(of[8].ends("fpr")) / min(of[8].ends("fpr"))]
    yield 8, "FPR of all much alike", "highest over lowest: near 1", factors(spread), spread[0] < 1.2
    for number in 9, 10:
        ratios = of[number].ratios("fpr", 0.8)
        yield number, "FPR of none is stable at the end", "at 80 %, of the end's: below 1", \
            factors(ratios), max(ratios) < 0.95
    loads = of["11a"].ratios("load", 0.4)
    yield 11, "load of all nearly stable from 300M to 400M on", "at 400M, of the end's: 1", \
        factors(loads), all(abs(ratio - 1) < 0.1 for ratio in loads)
    small, large = of["11a"].ratios("load", 0.3), of["11b"].ratios("load", 0.3)
    yield 11, "with more memory load is stable sooner", "nearer to 1 at 300M", \
        f"256 MiB: {factors(small)}; 512 MiB: {factors(large)}", \
        all(abs(1 - b) < abs(1 - a) for a, b in zip(small, large))


def claims(of):
    found = [dict(zip(("figure", "claim", "printed", "ours", "holds"), claim))
             for some in (claims_15, claims_60, claims_695) for claim in some(of)]
    return sorted(found, key=lambda row: row["figure"])


def judge(of, printed):
    """The claims, with what the paper's own tables say of them where they concern the end."""
    for row, table_row in zip(claims(of), claims(printed)):
        at_end = row["figure"] < 11 and not row["printed"].startswith(("at ", "yes"))
        yield {**row, "tables": table_row["ours"] if at_end else "",
               "holds": "yes" if row["holds"] else "no"}


def at_figures(courses):
    return {number: courses[stream] for number, stream in {**RATES, **LOADS}.items()}


def report_claims(out, of, cells, source):
    rows = list(judge(of, at_figures(printed_courses(cells))))
    out.csv("claims.csv", [{**row, **source} for row in rows])
    out.say("### What the text says of the figures", table(
        rows, {"figure": "figure", "claim": "claim", "text": "printed", "ours": "ours",
               "the paper's tables": "tables",
               "holds": lambda row: "yes" if row["holds"] == "yes" else "**no**"}))


def report(out, results, scale):
    """results: by cell."""
    courses = courses_of(results)
    of = at_figures(courses)
    out.say("## Figures of bera-2012", "The paper prints no values for its figures. What its text "
            "says of them is compared below. Figures 2 to 4 have a logarithmic scale for FNR.")
    for number, course in of.items():
        write_csv(out, number, course)
    for number in RATES:
        plot_rates(out, number, of[number], scale)
    plot_loads(out, courses, scale)
    report_claims(out, of, list(results), source_of(next(iter(results.values()))))
