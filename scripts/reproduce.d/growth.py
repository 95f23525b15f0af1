# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Figures 10 and 11 of koloniari-2011: filters that grow in a burst, and their FPR."""

import math
from dataclasses import dataclass

from output import Panel, source_of, table

RECORDS, EVERY, RUNS = 60000, 1000, 10
TARGET, SIZED, MOST = 0.05, 1.05, 8
WINDOWS = [100, 500, 1000]
BURSTS = {2: "'#1f77b4'", 5: "'#d62728'"}
MOST_FILTERS = {2: 3, 5: 6}  # of PAPERS.md, all distinct
WAYS = ["density", "cardinality"]


@dataclass(frozen=True)
class Data:
    """A stream; zipf: 0 for one in which all events in a window are different."""
    name: str
    title: str
    domain: int
    zipf: float


SETS = [Data("distinct", "all events distinct", 5000000, 0),
        Data("web log", "web log (stand-in)", 33346, 1.0)]


def live_keys(data, window):
    """
    Of an event with probability p, which is inserted again once a window after it was has passed, a
    share w p / (1 + w p) of the time has it alive.
    """
    if not data.zipf:
        return window
    weights = [i ** -data.zipf for i in range(1, data.domain + 1)]
    total = math.fsum(weights)
    return math.fsum(window * w / (total + window * w) for w in weights)


def options(data, way, window, burst, seed):
    drawn = ("--distribution", f"zipf:{data.zipf}") if data.zipf else ()
    return ("--engine", "timer", "--slicing", "none", "--grow", way, "--max-filters", str(MOST),
            "--capacity", str(round(SIZED * live_keys(data, window))), "--fpr-target", str(TARGET),
            "--window-records", str(window), "--ticks", "100", "--records", str(RECORDS),
            "--domain", str(data.domain), *drawn, "--burst", f"{burst}x", "--every", str(EVERY),
            "--runs", str(RUNS), "--seed", str(seed))


def slots(records, burst):
    """When so many records have come, one a slot but in the burst."""
    third = RECORDS / 3
    in_burst = min(max(records - third, 0), third)
    return records - in_burst + in_burst / burst


def rows_of(data, key, result):
    """A row for each EVERY records; FPR is that of these records alone."""
    way, window, burst = key
    rows, before = [], {"records": 0, "distinct": 0, "fpr": 0}
    for now in result["series"] + [result]:
        lost = now["fpr"] * now["distinct"] - before["fpr"] * before["distinct"]
        rows.append({"data": data.name, "way": way, "window": window, "burst": burst,
                     "records": now["records"], "slots": slots(now["records"], burst),
                     "filters_live": now["filters_live"], "filters_most": now["filters_most"],
                     "fpr": lost / (now["distinct"] - before["distinct"]),
                     "fn": now["fn"], "fp": now["fp"], **source_of(result)})
        before = now
    return rows


def panel_of(rows, window, name, label):
    panel = Panel(f"slots (window {window})", label)
    for burst, colour in BURSTS.items():
        some = [row for row in rows if (row["window"], row["burst"]) == (window, burst)]
        panel.curve(f"{burst} times the rate", [(row["slots"], row[name]) for row in some],
                    f"lines linecolor {colour}")
    return panel


def plot(out, data, rows):
    stream = f"Zipf(1.0) over {data.domain}" if data.zipf else f"uniform over {data.domain}"
    for figure, name, label in (10, "filters_live", "filters"), (11, "fpr", "FPR"):
        for way in WAYS:
            some = [row for row in rows if row["way"] == way]
            out.plot(f"koloniari-{figure}-{data.name.replace(' ', '-')}-{way}",
                     [panel_of(some, window, name, label) for window in WINDOWS],
                     f"koloniari-2011, figure {figure}, by {way}, {data.title}",
                     f"Identifiers {stream}, mean of {RUNS} streams; a filter holds {SIZED} windows "
                     f"of keys at FPR {TARGET}.")


def third_of(rows, which):
    """The rows of a third of the stream, without those in which a window goes over to it."""
    some = rows[which * len(rows) // 3:(which + 1) * len(rows) // 3]
    return some[2:]


def summary_of(data, key, rows):
    base, burst, after = (third_of(rows, which) for which in range(3))
    way, window, times = key
    return {"data": data.name, "way": way, "window": window, "burst": times,
            "base": sum(row["filters_live"] for row in base) / len(base),
            "in_burst": max(row["filters_live"] for row in burst),
            "most": rows[-1]["filters_most"],
            "after": sum(row["filters_live"] for row in after) / len(after),
            "fpr_base": max(row["fpr"] for row in base),
            "fpr_burst": max(row["fpr"] for row in burst),
            "bound": 1 - (1 - TARGET) ** math.ceil(rows[-1]["filters_most"]),
            "fn": rows[-1]["fn"], "fp": rows[-1]["fp"]}


def claims(found):
    """(claim, whether it holds)."""
    def some(**which):
        return [row for row in found if all(row[name] == value for name, value in which.items())]

    distinct = some(data="distinct")
    large = [row for row in distinct if row["window"] > 100]
    yield "all distinct: at most 3 filters in a burst of 2, 6 in one of 5", \
        all(row["most"] <= MOST_FILTERS[row["burst"]] for row in distinct)
    yield "density stays at one filter at the base rate (windows of 500 and 1000)", \
        all(row["base"] == 1 for row in large if row["way"] == "density")
    yield "cardinality has one or two there", \
        all(1 < row["base"] <= 2.05 for row in distinct if row["way"] == "cardinality")
    yield "after the burst both are back at that", \
        all(abs(row["after"] - row["base"]) < 0.25 for row in distinct)
    yield f"FPR <= 1 - (1 - {TARGET})^F", all(row["fpr_burst"] <= row["bound"] for row in found)
    yield "no copy is missed but of an event that was lost itself", \
        all(row["fn"] <= row["fp"] for row in found)


def report(out, runs, seed):
    """Returns the claims that do not hold."""
    keys = [(way, window, burst) for way in WAYS for window in WINDOWS for burst in BURSTS]
    found = runs.ask(options(data, *key, seed) for data in SETS for key in keys)
    out.say("## Figures 10 and 11 of koloniari-2011", f"""
The paper prints no values. A burst of 2 or 5 times the rate takes the middle third of the events. Windows are 100, 500 and
1000 slots, in 100 ticks, since a window has at most 119; a filter holds {SIZED} windows of keys at the base rate. The web log is not
public; its stand-in are Zipf(1.0) draws. The streams have their most at different moments, so the mean of their
highest numbers is above the highest of their mean.""")
    summaries = []
    for data in SETS:
        rows = []
        for key in keys:
            some = rows_of(data, key, found[options(data, *key, seed)])
            summaries.append(summary_of(data, key, some))
            rows += some
        out.csv(f"koloniari-growth-{data.name.replace(' ', '-')}.csv", rows)
        plot(out, data, rows)
    judged = list(claims(summaries))
    out.say("What the text and the analysis say of them:",
            table([{"claim": claim, "holds": "yes" if holds else "**no**"}
                   for claim, holds in judged], {"claim": "claim", "holds": "holds"}),
            table(summaries, {
                "data": "data", "by": "way", "window": "window",
                "burst": lambda row: f"{row['burst']}x",
                "filters alive at once, mean of the streams: at the base rate": lambda row: f"{row['base']:.2f}",
                "in the burst, at the moment when it is highest": lambda row: f"{row['in_burst']:.2f}",
                "the most of each stream, whenever it has them, mean of the streams": lambda row: f"{row['most']:.1f}",
                "mean of the streams after the burst": lambda row: f"{row['after']:.2f}",
                "FPR at the base rate": lambda row: f"{row['fpr_base']:.4f}",
                "in the burst": lambda row: f"{row['fpr_burst']:.4f}",
                "bound": lambda row: f"{row['bound']:.4f}"}))
    return [f"growth: {claim}" for claim, holds in judged if not holds]
