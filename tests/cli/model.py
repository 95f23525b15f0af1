#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The model of the FPR against the truth in xdp-dedup simulate, from 10 % to 150 % of capacity.

usage: model.py PROGRAM MOST [NAME...]

Rows of a table: what was measured, what the model said on average meanwhile, from how full the filter was.
Filters with a window are meant for CAPACITY keys live in it, the others for as many keys in all;
those that forget by chance have a bit for each key then. Streams are as long as 1000 false
positives take, and MOST records at most: where that is less, nothing is compared. Exit code 1: a model was wrong
by more than 20 %, or a filter was never compared.
"""

import json
import subprocess
import sys

ENOUGH, TOLERANCE, STRETCHES = 1000, 0.2, 50
PARTS = [0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5]
WINDOW, GROWS, FORGETS = "window", "grows", "forgets"
# name: kind, capacity, options
FILTERS = {
    "tagged": (WINDOW, 2048, "--engine tagged --memory 16KiB"),
    "timer": (WINDOW, 8000, "--engine timer --capacity 8000"),
    "timer, none": (WINDOW, 8000, "--engine timer --slicing none --capacity 8000"),
    "timer, 20 slices": (WINDOW, 8000, "--engine timer --slices 20 --capacity 8000"),
    "timer, vertical": (WINDOW, 8000, "--engine timer --slicing vertical --slices 20 "
                                      "--capacity 8000"),
    "timer, hv": (WINDOW, 8000, "--engine timer --slicing hv --slices 20 --subslices 4 "
                                "--capacity 8000"),
    "timer, vh": (WINDOW, 8000, "--engine timer --slicing vh --slices 4 --subslices 4 "
                                "--capacity 8000"),
    "timer, 2x2": (WINDOW, 8000, "--engine timer --slicing 2x2 --slices 20 --capacity 8000"),
    "bloom": (GROWS, 400000, "--engine bloom --hashes 4 --memory 400KiB"),
    "bloom, a line each": (GROWS, 400000, "--engine bloom --hashes 4 --slicing horizontal "
                                          "--memory 400KiB"),
    "bloom, 2x2": (GROWS, 400000, "--engine bloom --slicing 2x2 --slices 100 --memory 400KiB"),
    "sbf": (FORGETS, 500000, "--engine sbf --memory 62500B"),
    "rsbf": (FORGETS, 500000, "--engine rsbf --memory 62500B"),
    "bsbf": (FORGETS, 500000, "--engine bsbf --memory 62500B"),
    "bsbf, in line": (FORGETS, 500000, "--engine bsbf --slicing horizontal --memory 62500B"),
    "bsbfsd": (FORGETS, 500000, "--engine bsbfsd --memory 62500B"),
    "rlbsbf": (FORGETS, 500000, "--engine rlbsbf --memory 62500B"),
    "rlbsbf, in line": (FORGETS, 500000, "--engine rlbsbf --slicing horizontal --memory 62500B"),
}


def simulate(program, options):
    run = subprocess.run([program, "simulate", "--json", "--seed", "1"] + options.split(),
                         stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def expected(result):
    """The mean over the distinct records of what the model said before and after each stretch."""
    rows, total = [{"distinct": 0, "fpr_model": 0}] + result["series"] + [result], 0
    for a, b in zip(rows, rows[1:]):
        total += (b["distinct"] - a["distinct"]) * (a["fpr_model"] + b["fpr_model"]) / 2
    return total / result["distinct"]


def stream(kind, keys):
    """Options of a stream that puts so many keys into the filter, and its records."""
    if kind == WINDOW:
        # Next to no key comes again: a copy that is missed would move its window.
        return f"--window-records {keys} --ticks 100 --domain {2000 * keys}", 20 * keys
    return f"--domain {2 * keys}", int(keys * 1.39)


def measure(program, kind, options, keys, most):
    """None where too few false positives are to be expected."""
    source, records = stream(kind, keys)
    options = f"{options} {source} --records"
    pilot = simulate(program, f"{options} {records}")
    if kind == WINDOW:
        records = max(records, int(1.1 * ENOUGH / max(pilot["fpr_model"], 1e-12)))
    if records > most:
        return None
    result = simulate(program, f"{options} {records} --every {max(records // STRETCHES, 1)}")
    return result if expected(result) * result["distinct"] >= ENOUGH else None


def main():
    program, most, names = sys.argv[1], float(sys.argv[2]), sys.argv[3:] or FILTERS
    wrong = 0
    print("| filter | of its capacity | false positives | FPR | by the model | difference |\n"
          "|---|---|---|---|---|---|")
    for name in names:
        kind, capacity, options = FILTERS[name]
        compared = 0
        for part in PARTS:
            result = measure(program, kind, options, int(part * capacity), most)
            if not result:
                continue
            model, fpr = expected(result), result["fpr"]
            compared += 1
            wrong += abs(model / fpr - 1) > TOLERANCE
            print(f"| {name} | {100 * part:.0f} % | {result['fp']} | {fpr:.3g} | {model:.3g} | "
                  f"{100 * (model / fpr - 1):+.1f} % |", flush=True)
        wrong += not compared
    sys.exit(wrong > 0)


main()
