# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where the print of bera-2012 cannot be what was run, shown with numbers."""

import math
from dataclasses import replace

from bera import MIB, is_within
from output import source_of, table

STATIONARY = [(engine, hashes) for hashes in (2, 3) for engine in ("bsbf", "bsbfsd", "rlbsbf")]
ALGORITHM1 = ("--variant", "algorithm1")


def report_algorithm1(out, runs, cells, how):
    """RSBF as Algorithm 1 has it."""
    cells = [cell for cell in cells if cell.engine == "rsbf"]
    results = runs.ask(cell.options(*how, ALGORITHM1) for cell in cells)
    rows = []
    for cell in cells:
        result = results[cell.options(*how, ALGORITHM1)]
        bits = cell.memory_mib * MIB * 8 // 2
        rows.append({"table": cell.table, "records_millions": cell.records_millions,
                     "distinct_percent": cell.distinct_percent, "memory_mib": cell.memory_mib,
                     "bits_of_a_filter_millions": f"{bits / 1e6:.0f}",
                     "printed_fpr_percent": cell.fpr, "printed_fnr_percent": cell.fnr,
                     "algorithm1_fpr_percent": f"{100 * result['fpr']:.4g}",
                     "algorithm1_fnr_percent": f"{100 * result['fnr']:.4g}",
                     "reaches_deletion": "no" if bits > cell.records_millions * 1e6 else "yes",
                     "scale": how[0], **source_of(result)})
    out.csv("rsbf-algorithm1.csv", rows)
    ends = [row for row in rows if row["reaches_deletion"] == "no"]
    zero = sum(float(row["algorithm1_fnr_percent"]) == 0 for row in ends)
    out.say("### RSBF is not Algorithm 1", f"""
Algorithm 1 inserts the first s = M/k events and deletes nothing before: with s > N it never does, and
has an FNR of 0, whatever the table says. That is so in {zero} of the {len(ends)} cells with s > N. The
columns come out of another rule, `--variant published`: event i, whatever the verdict, is inserted
with probability min(1, s/i), and each insertion first resets one random bit in each filter.""",
            table(rows, {"table": "table", "memory": lambda row: f"{row['memory_mib']} MiB",
                         "s, millions": "bits_of_a_filter_millions", "N, millions":
                         "records_millions", "deletes": "reaches_deletion",
                         "FPR % printed": "printed_fpr_percent",
                         "Algorithm 1": "algorithm1_fpr_percent",
                         "FNR % printed": "printed_fnr_percent",
                         "Algorithm 1 ": "algorithm1_fnr_percent"}))


def domain_of(cell):
    """Identifiers of the paper's stream: N/r, where (1 - e^-r)/r is the share of distinct ones."""
    low, high = 0.0, 100 / cell.distinct_percent
    for _ in range(100):
        r = (low + high) / 2
        if -math.expm1(-r) / r > cell.distinct_percent / 100:
            low = r
        else:
            high = r
    return cell.records_millions * 1e6 / r


def poisson(mean):
    for j in range(int(mean + 12 * math.sqrt(mean) + 40)):
        yield j, math.exp(j * math.log(mean) - mean - math.lgamma(j + 1))


class Cells:
    """
    Cells of an SBF of 1 bit that are cleared at one rate, in a uniform stream: each is also set by
    the j other keys that hash to it, a Poisson number.
    """

    def __init__(self, keys, cells, hashes, clear):
        self.rates = [(p, j / keys, clear) for j, p in poisson(hashes * keys / cells)]

    def load(self, n):
        """After n events."""
        return sum(p * s / (s + c) * -math.expm1(-(s + c) * n)
                   for p, s, c in self.rates if s + c > 0)

    def kept(self, age):
        """That a cell is 1, so many events after it was set."""
        return sum(p * (s + c * math.exp(-(s + c) * age)) / (s + c) if s + c > 0 else p
                   for p, s, c in self.rates)


def sbf_model(cell, part, steps=300):
    """
    FPR and FNR in percent of SBF, K = 2, P = 4, if the random places to clear are drawn from that
    part of the array: at its end a distinct event meets the load, a copy what its first left.
    """
    keys, size = domain_of(cell), cell.memory_mib * MIB * 8
    places = [(part, Cells(keys, size, 2, 4 / (part * size))), (1 - part, Cells(keys, size, 2, 0))]
    end = cell.records_millions * 1e6
    fp = fn = distinct = copies = 0
    for i in range(steps):
        n = (i + 0.5) * end / steps
        first, copy = math.exp(-n / keys), (end - n) * math.exp(-n / keys)
        distinct += first
        copies += copy
        fp += first * sum(share * cells.load(n) for share, cells in places) ** 2
        fn += copy * (1 - sum(share * cells.kept(n) for share, cells in places) ** 2)
    return 100 * fp / distinct, 100 * fn / copies


def part_of_31_bits(cell):
    """The part of an SBF that places of 31 bits reach."""
    return min(2**31 / (cell.memory_mib * MIB * 8), 1)


def explain(cell, rate):
    """Why a printed value cannot be met, or None."""
    if cell.engine != "sbf" or part_of_31_bits(cell) == 1:
        return None
    model = sbf_model(cell, part_of_31_bits(cell))[("fpr", "fnr").index(rate)]
    if not is_within(rate, getattr(cell, rate), model):
        return None
    return f"random places of 31 bits in the print, which give {model:.4f} % (see below)"


def report_sbf(out, cells, results, scale):
    """results: by cell."""
    rows = []
    for cell in (cell for cell in cells if cell.engine == "sbf" and cell.memory_mib >= 256):
        whole, half = sbf_model(cell, 1), sbf_model(cell, part_of_31_bits(cell))
        for i, rate in enumerate(("fpr", "fnr")):
            rows.append({"table": cell.table, "memory_mib": cell.memory_mib, "rate": rate.upper(),
                         "printed_percent": getattr(cell, rate),
                         "ours_percent": f"{100 * results[cell][rate]:.4f}",
                         "model_percent": f"{whole[i]:.4f}",
                         "model_31_bits_percent": f"{half[i]:.4f}", "scale": scale,
                         **source_of(results[cell])})
    out.csv("sbf-512.csv", rows)
    out.say("### SBF at 512 MiB: random places of 31 bits", """
512 MiB are 2^32 cells. The print fits random places to clear below 2^31, as a generator with
RAND_MAX = 2^31 - 1 gives: then only the lower half is ever cleared, at twice the rate, and the FNR is
too low. At 256 MiB, 2^31 cells, both are the same, and print and ours agree. The models are
integrals over the stream, with places in the whole array and places of 31 bits.""",
            table(rows, {"table": "table", "memory": lambda row: f"{row['memory_mib']} MiB",
                         "rate": "rate", "% printed": "printed_percent", "ours": "ours_percent",
                         "model": "model_percent", "model, 31 bits": "model_31_bits_percent"}))


def paper_load(engine, hashes, keys, bits):
    """Eq. 4.3, 4.5 and 5.2 as printed: X^(1/k) after so many keys, in steps of bits/100."""
    q, step = 0.0, min(0.01, keys / bits)
    for _ in range(int(keys / bits / step)):
        reset = {"bsbf": 1, "bsbfsd": 1 / hashes, "rlbsbf": q}[engine]
        q += step * (1 - q**hashes) * (1 - reset * q)
    return q


def stationary_options(engine, hashes, seed):
    return ("--engine", engine, "--memory", "24KiB", "--records", "30M", "--domain", "1G",
            "--hashes", str(hashes), "--seed", str(seed))


def report_loads(out, runs, seed):
    """Loads in the long run: measured, by the corrected recurrence, by the printed one."""
    results = runs.ask(stationary_options(*filter, seed) for filter in STATIONARY)
    rows = []
    for engine, hashes in STATIONARY:
        result = results[stationary_options(engine, hashes, seed)]
        bits = result["cells"] / hashes
        rows.append({"engine": engine, "hashes": hashes, "load": f"{result['load']:.4f}",
                     "model": f"{result['load_model']:.4f}",
                     "printed_recurrence":
                         f"{paper_load(engine, hashes, result['distinct'], bits):.4f}",
                     **source_of(result)})
    out.csv("loads.csv", rows)
    out.say("### The recurrences for X", """
Eq. 3.27, 3.28, 4.3, 4.5 and 5.2 count the setting of a bit that is set already, so X goes to 1 and FNR
to 0 by artefact. Per new key and filter of s bits the load q changes by dq = ((1-q) - (1-q^k) r q)/s,
with r = 1 (BSBF), 1/k (BSBFSD), q (RLBSBF): the own bit newly set, less the reset that an insertion
brings. After 30M records, nearly all of them new, in 24 KiB:""",
            table(rows, {"engine": "engine", "k": "hashes", "load": "load",
                         "corrected model": "model", "printed recurrence": "printed_recurrence"}))


def report_joint(out, cells, results):
    """Eq. 3.3 and 3.4. results: by cell."""
    rows = [{"engine": cell.engine, **{name: f"{100 * results[cell][name]:.4f}"
                                       for name in ("fpr", "fpr_joint", "fnr", "fnr_joint")},
             **source_of(results[cell])} for cell in cells if cell.table == 4
            and cell.memory_mib == 64]
    out.csv("joint.csv", rows)
    out.say("### Eq. 3.3 and 3.4", """
They are joint probabilities, of a record to be distinct and called a copy, while the tables print
FP/(FP+TN). Both, for 695M records, 15 % distinct, 64 MiB, in percent (the tables' CSV files have both for
every cell):""", table(rows, {"engine": "engine", "FP/(FP+TN)": "fpr", "eq. 3.3": "fpr_joint",
                             "FN/(FN+TP)": "fnr", "eq. 3.4": "fnr_joint"}))


def report_shared(out, cells):
    """Columns that the paper prints twice."""
    again = {replace(cell, table=0, fpr=0, fnr=0): cell for cell in cells if cell.table == 8}
    pairs = [(cell, again[replace(cell, table=0, fpr=0, fnr=0)]) for cell in cells
             if cell.table < 4 and replace(cell, table=0, fpr=0, fnr=0) in again]
    worst = max(abs(getattr(a, rate) / getattr(b, rate) - 1)
                for a, b in pairs for rate in ("fpr", "fnr"))
    out.say("### The print against itself", f"""
Tables 1 to 3 and table 8 share {len(pairs)} cells; their values differ by at most {100 * worst:.2g} %.
With k = 1, tables 1 and 2 measure the same filter. Misprints: algorithms 2 to 4 swap DISTINCT and
DUPLICATE (all bits set means duplicate); the text on table 5 says 8 MB and quotes the value of 64;
the text on table 9 says about 50 % for RLBSBF's rates at 64 MB, the table 36.8 % and 31.0 %. "MB" is
MiB throughout.""")


def report(out, runs, cells, results, how):
    """results: by cell."""
    out.say("## Where the print cannot be what was run")
    report_algorithm1(out, runs, cells, how)
    report_sbf(out, cells, results, how[0])
    report_loads(out, runs, how[1])
    report_joint(out, cells, results)
    report_shared(out, cells)
