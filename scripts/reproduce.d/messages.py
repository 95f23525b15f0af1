# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Figures 4(a) and 7(c) of koloniari-2011: how popular events are, and slices accessed per look-up."""

import math

from koloniari import HASHES, RECORDS, SETS, harmonic
from output import Panel, source_of, table

SLICES, TARGET = 40, 0.02
# Share of distinct events: slices accessed, by prototypes.
PIPELINED = {0.8: 1.79, 0.5: 2.56, 0.2: 3.33}
TOLERANCE = 0.02
STRETCHES = 50


def fill(share):
    """Of a filter sized for TARGET, after that share of its events."""
    return -math.expm1(share * math.log1p(-TARGET ** (1 / HASHES)))


def bits_for(distinct):
    return int(-HASHES * distinct / math.log1p(-TARGET ** (1 / HASHES)))


def messages():
    """Different slices among HASHES picks."""
    return -SLICES * math.expm1(HASHES * math.log1p(-1 / SLICES))


def model_pipelined(distinct, steps=200):
    """A new event visits slices until a bit is 0, never one twice; a copy visits all."""
    new = sum(sum(((1 - 1 / SLICES) * fill((i + 0.5) / steps)) ** n for n in range(HASHES))
              for i in range(steps)) / steps
    return distinct * new + (1 - distinct) * messages()


def pipelining(distinct, seed, streams):
    return ("--engine", "bloom", "--hashes", str(HASHES), "--slicing", "vertical", "--slices",
            str(SLICES), "--memory", f"{bits_for(distinct * RECORDS) // 8}B", "--records",
            str(RECORDS), "--distinct", str(distinct), "--runs", str(streams), "--seed", str(seed))


def row_of(distinct, result):
    found = result["slices"]["pipelined_per_lookup"]
    return {"figure": "7c", "distinct_percent": round(100 * distinct), "slices": SLICES,
            "streams": len(result["runs"]), "parallel": result["slices"]["messages_per_lookup"],
            "pipelined": found, "pipelined_sd": result["slices"]["pipelined_per_lookup_sd"],
            "model": model_pipelined(distinct), "prototype": PIPELINED[distinct],
            "with_set_messages": found + distinct * messages(),
            "verdict": "within" if abs(found / PIPELINED[distinct] - 1) <= TOLERANCE
                       else "OUTSIDE", **source_of(result)}


def report_pipelining(out, runs, seed, streams):
    found = runs.ask(pipelining(distinct, seed, streams) for distinct in PIPELINED)
    rows = [row_of(distinct, found[pipelining(distinct, seed, streams)]) for distinct in PIPELINED]
    out.csv("koloniari-7c.csv", rows)
    panel = Panel("% distinct events", "slices accessed per look-up")
    for name, look in ("parallel", "linespoints"), ("pipelined", "linespoints"), \
            ("model", "lines dashtype 2 linecolor 'black'"):
        panel.curve(name, [(row["distinct_percent"], row[name]) for row in rows], look)
    out.plot("koloniari-7c", [panel], "koloniari-2011, figure 7(c): pipelining",
             f"Uniform streams, {SLICES} vertical slices, k = {HASHES}, filters for P = {TARGET}.")
    out.say("The text calls it fewer messages. If bits are then set by messages of their own, it is more than "
            "in parallel; one pass, which tests until the first 0 and sets from there on, is at most what "
            "parallel takes.",
            table(rows, {"distinct": lambda row: f"{row['distinct_percent']} %",
                         "parallel": lambda row: f"{row['parallel']:.3f}",
                         "pipelined": lambda row: f"{row['pipelined']:.3f}",
                         "model": lambda row: f"{row['model']:.3f}",
                         "prototype": lambda row: f"{row['prototype']} ({row['verdict']})",
                         "and set apart": lambda row: f"{row['with_set_messages']:.3f}"}))
    return [f"figure 7(c), {row['distinct_percent']} % distinct: {row['pipelined']:.3f} slices a look-up, "
            f"not {row['prototype']}" for row in rows if row["verdict"] == "OUTSIDE"]


def popularity(data, seed):
    return ("--engine", "bloom", "--hashes", str(HASHES), "--memory", f"{data.bits[2] // 8}B",
            "--records", str(RECORDS), "--distribution", "zipf:1.0", "--domain", str(data.domain),
            "--every", str(RECORDS // STRETCHES), "--runs", "10", "--seed", str(seed))


def expected_distinct(data, records):
    shares = harmonic(data.domain, 1)
    return math.fsum(-math.expm1(records * math.log1p(-1 / i / shares))
                     for i in range(1, data.domain + 1))


def report_popularity(out, runs, seed):
    """The stand-in's law, and that its streams follow it: by how many events are new."""
    data = SETS[0]
    result = runs.ask([popularity(data, seed)])[popularity(data, seed)]
    shares = harmonic(data.domain, 1)
    ranks = [max(int(10 ** (i / 10)), 1) for i in range(int(10 * math.log10(data.domain)) + 1)]
    law = [{"rank": rank, "percent": 100 / rank / shares} for rank in dict.fromkeys(ranks)]
    stages = result["series"] + [result]
    grows = [{"figure": "4a", "data": data.name, "stand_in": "stand-in", "events": row["records"],
              "distinct": row["distinct"], "distinct_model": expected_distinct(data, row["records"]),
              **source_of(result)} for row in stages]
    out.csv("koloniari-4a.csv", grows)
    panels = [Panel("log10 of the rank", "% of the events", log=True), Panel("events", "different ones")]
    panels[0].curve("i^-^1 / H", [(math.log10(row["rank"]), row["percent"]) for row in law], "lines")
    panels[1].curve("the stream", [(row["events"], row["distinct"]) for row in grows], "points")
    panels[1].curve("by the law", [(row["events"], row["distinct_model"]) for row in grows],
                    "lines dashtype 2 linecolor 'black'")
    out.plot("koloniari-4a", panels, "koloniari-2011, figure 4(a): popularity of events, web log",
             f"**Stand-in**: zipf:1.0 over {data.domain} identifiers; figure 4(b) is about who produces them, see "
             "the trees.")


def report(out, runs, seed, streams):
    """Returns what nothing explains."""
    out.say("## Figures 4(a) and 7(c) of koloniari-2011")
    report_popularity(out, runs, seed)
    return report_pipelining(out, runs, seed, streams)
