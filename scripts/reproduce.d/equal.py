# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Figure 9 of koloniari-2011: the rule of equal timers. The paper's window is 1000 ticks with an event in each; a
timer here has at most 119, so 8 events share a tick.
"""

import math

from output import Panel, source_of, table

HASHES, SLICES, TICKS = 8, 40, 119
WINDOW = 8 * TICKS
DOMAIN = WINDOW  # half of the events are new: each then comes once more within its window
RATE = 0.0164  # of new events, without the rule
RECORDS = 200000
EQUAL = range(1, HASHES + 1)
# x: FPR and FNR of prototypes with 1000 ticks
PROTOTYPE = {("vertical", 1): (0.0164, 0), ("vertical", 2): (0.0010, 0.0071),
             ("horizontal", 3): (0.0059, 0.028)}
LINE_TIMERS, LINE_BYTES = 60, 64


def slice_cells():
    """Of each slice: as many as give RATE with half of the window's events in the filter."""
    cells = -HASHES * WINDOW / 2 / math.log1p(-RATE ** (1 / HASHES))
    return round(cells / SLICES)


def memory():
    """Bytes that hold so many timers: a line has 60 in 64."""
    return math.ceil(slice_cells() * SLICES * LINE_BYTES / LINE_TIMERS)


def options(slicing, equal, seed, streams):
    return ("--engine", "timer", "--hashes", str(HASHES), "--memory", f"{memory()}B", "--slicing",
            slicing, "--slices", str(SLICES), "--equal", str(equal), "--window-records",
            str(WINDOW), "--ticks", str(TICKS), "--truth", "delivered", "--domain", str(DOMAIN), "--records",
            str(RECORDS), "--runs", str(streams), "--seed", str(seed))


def add_tick(ways, p, equal):
    """Multiply by the generating function of one more tick, in which fewer than equal timers fall."""
    return [sum(ways[n - j] * p ** j / math.factorial(j) for j in range(min(equal, n + 1)))
            for n in range(HASHES + 1)]


def rates_of(keys, cells, equal):
    """FPR and FNR of a slice of so many cells in which so many keys are live."""
    ticks = min(TICKS, math.ceil(keys))
    set_now = -math.expm1(HASHES * keys / max(ticks, 1) * math.log1p(-1 / cells))
    one, later = [1] + [0] * HASHES, [1] + [0] * HASHES
    live, p, kept, missed = 0, set_now, 1, 0
    for _ in range(ticks):
        missed += add_tick(later, kept, equal)[HASHES]
        later = add_tick(later, set_now * kept, equal)
        one, live = add_tick(one, p, equal), live + p
        p, kept = p * (1 - set_now), kept * (1 - set_now)
    missed += add_tick(later, kept, equal)[HASHES]
    return live ** HASHES - one[HASHES] * math.factorial(HASHES), \
        missed * math.factorial(HASHES) / (ticks + 1)


def model(slicing, equal):
    """The mean over the slices, whose number of keys is Poisson's. A copy's slice has one key more."""
    keys = WINDOW / 2
    if slicing == "vertical":
        return rates_of(keys, slice_cells() * SLICES, equal)
    mean, fpr, fnr = keys / SLICES, 0, 0
    for n in range(0, 60):
        share = math.exp(n * math.log(mean) - mean - math.lgamma(n + 1))
        rates = rates_of(n, slice_cells(), equal)
        fpr, fnr = fpr + share * rates[0], fnr + share * rates[1]
    return fpr, fnr


def row_of(slicing, equal, result):
    """counts of duplicates come from means: of the first run, with the rates of all."""
    fpr, fnr = model(slicing, equal)
    copies = RECORDS - result["distinct"]
    return {"figure": "9", "slicing": slicing, "equal": equal, "ticks": TICKS,
            "streams": len(result["runs"]), "fpr": result["fpr"], "fpr_sd": result["fpr_sd"],
            "fpr_model": fpr, "fnr": result["fnr"], "fnr_sd": result["fnr_sd"],
            "fnr_model": fnr if equal > 1 else 0,
            "true_duplicates": copies * (1 - result["fnr"]),
            "false_duplicates": result["distinct"] * result["fpr"], **source_of(result)}


def shares(rows):
    """Of what has just x equal timers, the share of true duplicates: by what x + 1 loses."""
    for row, following in zip(rows, rows[1:] + [None]):
        true, false = (max(row[name] - (following[name] if following else 0), 0)
                       for name in ("true_duplicates", "false_duplicates"))
        row["true_share"] = true / (true + false) if true + false else 1


def plot(out, rows):
    panels = [Panel("x of 8 timers are equal", "share of true duplicates"),
              Panel("x: so many must be equal", "FPR", log=True),
              Panel("x: so many must be equal", "FNR")]
    for slicing, colour in ("horizontal", "'#1f77b4'"), ("vertical", "'#d62728'"):
        some = [row for row in rows if row["slicing"] == slicing]
        for panel, name in zip(panels, ("true_share", "fpr", "fnr")):
            panel.curve(slicing, [(row["equal"], row[name]) for row in some],
                        f"linespoints linecolor {colour}")
        for panel, name in zip(panels[1:], ("fpr_model", "fnr_model")):
            panel.curve("model" if slicing == "vertical" else None,
                        [(row["equal"], row[name]) for row in some],
                        "lines dashtype 2 linecolor 'black'")
    out.plot("koloniari-9", panels, "koloniari-2011, figure 9: equal timers",
             f"Uniform events, half of them new; windows of {WINDOW} events in {TICKS} ticks, {SLICES} slices of "
             f"{slice_cells()} timers, k = {HASHES}.")


def prototype(row):
    known = PROTOTYPE.get((row["slicing"], row["equal"]))
    return f"{known[0]}, {known[1]}" if known else ""


def report(out, runs, seed, streams):
    keys = [(slicing, equal) for slicing in ("horizontal", "vertical") for equal in EQUAL]
    found = runs.ask(options(*key, seed, streams) for key in keys)
    rows = [row_of(*key, found[options(*key, seed, streams)]) for key in keys]
    for slicing in ("horizontal", "vertical"):
        shares([row for row in rows if row["slicing"] == slicing])
    out.say("## Figure 9 of koloniari-2011", f"""
A timer here counts at most {TICKS} ticks, the paper's 1000 and an event in each. So {WINDOW // TICKS} events share a
tick, and timers that different events set agree more often: of a vertical filter, where a key sees the timers
of all, false positives are more than with 1000 ticks. The model is that of {TICKS} ticks; with 1000 it gives
the prototypes' values (tests/unit/test_model_equal.c). It takes a key's timers to be
k cells. In slices this small some of them share one: fewer are asked, and those agree by themselves, so
that of horizontal slices false positives are more than by the model.""")
    plot(out, rows)
    out.csv("koloniari-9.csv", rows)
    out.say(table(rows, {"slicing": "slicing", "x": "equal",
                         "FPR (model)": lambda row: f"{row['fpr']:.5f} ({row['fpr_model']:.5f})",
                         "FNR (model)": lambda row: f"{row['fnr']:.5f} ({row['fnr_model']:.5f})",
                         "true among just x equal": lambda row: f"{row['true_share']:.4f}",
                         "1000 ticks, prototype": prototype}))
    return []
