# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Figures 1 and 5(d) of koloniari-2011: slices that have failed, and the vote about them."""

import math

from koloniari import RECORDS, SETS
from output import Panel, source_of, table

SLICES, DATA, BITS = 40, SETS[0], 143000
FAILED = [0, 4, 8, 12, 16, 20]
VOTES, VOTE_HASHES, VOTE_FAILED = range(1, 9), 8, 8
# S_f for P_max = .15 and f = 4 by target P: horizontal, vertical.
PROTOTYPE = {0.02: (31, 11), 0.05: (38, 15), 0.08: (53, 21)}
STEPS = 200


def options(slicing, hashes, failed, policy, seed, streams):
    faults = ("--faults", str(failed), "--fault-policy", policy) if failed else ()
    return ("--engine", "bloom", "--hashes", str(hashes), "--memory", f"{BITS // 8}B", "--slicing",
            slicing, "--slices", str(SLICES), *faults,
            "--records", str(RECORDS), "--distribution", "zipf:1.0", "--domain", str(DATA.domain),
            "--runs", str(streams), "--seed", str(seed))


def over_fill(hashes, rate):
    """The mean of rate(fill) while the filter is filled."""
    whole = hashes * DATA.distinct * math.log1p(-1 / BITS)
    return sum(rate(-math.expm1((i + 0.5) / STEPS * whole)) for i in range(STEPS)) / STEPS


def equation_5(q, fill, hashes):
    return q + (1 - q) * fill ** hashes


def equation_6(q, fill, hashes):
    return (q + (1 - q) * fill) ** hashes


def tail(n, least, p):
    return sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(least, n + 1))


def faults_row(key, result):
    slicing, failed = key
    q, equation = failed / SLICES, equation_5 if slicing == "horizontal" else equation_6
    return {"figure": "1a", "data": DATA.name, "stand_in": "stand-in", "slicing": slicing,
            "failed": failed, "failed_percent": 100 * q, "streams": len(result["runs"]),
            "fpr": result["fpr"], "fpr_sd": result["fpr_sd"],
            "model": over_fill(4, lambda fill: equation(q, fill, 4)), **source_of(result)}


def report_faults(out, runs, seed, streams):
    keys = [(slicing, failed) for slicing in ("horizontal", "vertical") for failed in FAILED]
    wanted = {key: options(key[0], 4, key[1], "duplicate", seed, streams) for key in keys}
    found = runs.ask(wanted.values())
    rows = [faults_row(key, found[wanted[key]]) for key in keys]
    out.csv("koloniari-1a.csv", rows)
    panels = [Panel("% of the slices failed", "FPR"), Panel("failed slices", "slices needed, S_f")]
    for slicing in ("horizontal", "vertical"):
        some = [row for row in rows if row["slicing"] == slicing]
        panels[0].curve(slicing, [(row["failed_percent"], row["fpr"]) for row in some], "points")
        panels[0].curve(f"eq. {5 if slicing == 'horizontal' else 6}",
                        [(row["failed_percent"], row["model"]) for row in some], "lines")
        panels[1].curve(slicing, [(f, needed(slicing, f, 0.02, 0.15)) for f in range(1, 11)],
                        "linespoints")
    out.plot("koloniari-1", panels, "koloniari-2011, figure 1: fault tolerance",
             f"**Stand-in** for the web log. Left, failed slices taken as set: {SLICES} slices, k = 4, streams "
             "that fill a filter for P = .02, and the equations' mean over the fill. Right: Definition 3, "
             "P_max = .15, P = .02.")
    out.say("Where vertical slices err, what they call duplicate is not set, which keeps the filter emptier than "
            "the equation takes it.",
            table(rows, {"slicing": "slicing", "failed": "failed",
                         "FPR": lambda row: f"{row['fpr']:.5f}",
                         "equation": lambda row: f"{row['model']:.5f}",
                         "difference": lambda row: f"{100 * (row['fpr'] / row['model'] - 1):+.1f} %"}))


def needed(slicing, failed, rate, most):
    """S_f: the fewest slices so that the FPR stays at most that."""
    if slicing == "horizontal":
        return math.ceil(failed * (1 - rate) / (most - rate))
    fill = rate ** (1 / 4)
    return math.ceil(failed * (1 - fill) / (most ** (1 / 4) - fill))


def report_needed(out):
    """Returns what differs from the prototypes."""
    rows = [{"figure": "1b", "target": rate, "slicing": slicing,
             "slices": needed(slicing, 4, rate, 0.15), "prototype": PROTOTYPE[rate][i]}
            for rate in PROTOTYPE for i, slicing in enumerate(("horizontal", "vertical"))]
    for row in rows:
        row["verdict"] = "within" if row["slices"] == row["prototype"] else "OUTSIDE"
    out.csv("koloniari-1b.csv", rows)
    out.say("S_f for P_max = .15 and f = 4 (`xdp-dedup plan --faults` says it of any filter):",
            table(rows, {"P": "target", "slicing": "slicing", "S_f": "slices",
                         "prototype": lambda row: f"{row['prototype']} ({row['verdict']})"}))
    return [f"figure 1(b), P = {row['target']}, {row['slicing']}: S_f {row['slices']}, not "
            f"{row['prototype']}" for row in rows if row["verdict"] == "OUTSIDE"]


def vote_row(vote, result):
    q = VOTE_FAILED / SLICES
    return {"figure": "5d", "data": DATA.name, "stand_in": "stand-in", "vote": vote,
            "streams": len(result["runs"]), "fpr": result["fpr"], "fpr_sd": result["fpr_sd"],
            "fpr_model": over_fill(VOTE_HASHES,
                                   lambda fill: tail(VOTE_HASHES, vote, (1 - q) * fill)),
            "fnr": result["fnr"], "fnr_sd": result["fnr_sd"],
            "fnr_model": tail(VOTE_HASHES, VOTE_HASHES - vote + 1, q),
            "of_all": result["fpr_joint"] + result["fnr_joint"], **source_of(result)}


def report_votes(out, runs, seed, streams):
    wanted = {vote: options("vertical", VOTE_HASHES, VOTE_FAILED, f"vote:{vote}", seed, streams)
              for vote in VOTES}
    found = runs.ask(wanted.values())
    rows = [vote_row(vote, found[wanted[vote]]) for vote in VOTES]
    out.csv("koloniari-5d.csv", rows)
    panel = Panel("x: so many of 8 cells must be there and set", "rate")
    for rate, colour in ("fpr", "'#1f77b4'"), ("fnr", "'#d62728'"):
        panel.curve(rate.upper(), [(row["vote"], row[rate]) for row in rows],
                    f"linespoints linecolor {colour}")
        panel.curve("sums" if rate == "fnr" else None,
                    [(row["vote"], row[f"{rate}_model"]) for row in rows],
                    "lines dashtype 2 linecolor 'black'")
    panel.curve("errors of all events", [(row["vote"], row["of_all"]) for row in rows],
                "linespoints linecolor '#2ca02c'")
    out.plot("koloniari-5d", [panel], "koloniari-2011, figure 5(d): the vote",
             f"**Stand-in** for the web log. {VOTE_FAILED} of {SLICES} vertical slices failed, k = "
             f"{VOTE_HASHES}. Dashed: the sums with their binomial coefficients.")
    least = {name: min(rows, key=value)["vote"] for name, value in
             {"of all events": lambda row: row["of_all"],
              "of each kind": lambda row: row["fpr"] + row["fnr"]}.items()}
    out.say(f"Errors are fewest with x = {least['of all events']} as a share of all events (the text: 3 or 4), "
            f"and with x = {least['of each kind']} as the sum of both rates.",
            table(rows, {"x": "vote", **{name.upper(): (lambda row, name=name:
                         f"{row[name]:.5f} ({row[name + '_model']:.5f})") for name in ("fpr", "fnr")},
                         "of all": lambda row: f"{row['of_all']:.5f}"}))


def report(out, runs, seed, streams):
    """Returns what nothing explains."""
    out.say("## Figures 1 and 5(d) of koloniari-2011")
    report_faults(out, runs, seed, streams)
    unexplained = report_needed(out)
    report_votes(out, runs, seed, streams)
    return unexplained
