# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tables 1 to 9 of bera-2012: what is printed beside what comes out."""

import csv
import datetime
import math
import os
from dataclasses import dataclass

from output import source_of, table

HERE = os.path.dirname(os.path.abspath(__file__))
POINTS = 40  # rows of a run's course: the figures are drawn from the tables' runs
MIB = 1 << 20
UNEXPLAINED = "unexplained"
ENGINES = ["sbf", "rsbf", "bsbf", "bsbfsd", "rlbsbf"]
# The columns are these; the paper's section 2 gives no parameters of its SBF.
EXTRA = {"sbf": ("--sbf-p", "4", "--sbf-max", "1"), "rsbf": ("--variant", "published")}


@dataclass(frozen=True)
class Cell:
    """One stream through one filter, with what the paper prints of it, in percent."""
    table: int
    records_millions: int
    distinct_percent: int
    memory_mib: int
    engine: str
    hashes: int
    fpr: float
    fnr: float

    def options(self, scale, seed, runs, extra=None):
        """Memory and records of the paper divided by scale."""
        records = round(self.records_millions * 10**6 / scale)
        return ("--engine", self.engine, "--memory", f"{round(self.memory_mib * MIB / scale)}B",
                "--records", str(records), "--distinct", str(self.distinct_percent / 100),
                "--hashes", str(self.hashes), *(extra or EXTRA.get(self.engine, ())),
                "--every", str(max(records // POINTS, 1)), "--seed", str(seed),
                *(("--runs", str(runs)) if runs > 1 else ()))

    def stream(self):
        """The stream and the memory, without the filter."""
        return (self.records_millions, self.distinct_percent, self.memory_mib)


def read_cell(row):
    cell = Cell(int(row["table"]), int(row["records_millions"]), int(row["distinct_percent"]),
                int(row["memory_mib"]), row["engine"], int(row["hashes"]),
                float(row["fpr_percent"]), float(row["fnr_percent"]))
    if not 0 < min(cell.fpr, cell.fnr) <= max(cell.fpr, cell.fnr) <= 100:
        raise ValueError("a rate is no percentage above 0")
    return cell


def read_cells(path):
    with open(path, encoding="utf-8") as file:
        rows = csv.DictReader(file)
        try:
            return [read_cell(row) for row in rows]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}, line {rows.line_num}: {error}") from error


def standard_error(result, rate):
    """
    Of a rate, in percent. Of several runs it is their deviation's. Of one run it is the one of
    independent events, which is a little too small: an evicted key errs once and is set again.
    """
    if f"{rate}_sd" in result:
        return 100 * result[f"{rate}_sd"] / math.sqrt(len(result["runs"]))
    events = result["distinct"] if rate == "fpr" else result["records"] - result["distinct"]
    return 100 * math.sqrt(result[rate] * (1 - result[rate]) / max(events, 1))


def tolerance(rate, printed):
    """In percent of what is printed."""
    if printed < 0.1:
        return 15
    return 1.5 if rate == "fpr" else 5


def is_within(rate, printed, found):
    return 100 * abs(found / printed - 1) <= tolerance(rate, printed)


def remark_on(cell, rate, found, error, explain):
    """Why a value is outside its tolerance, if anything says so; explain: see report_tables()."""
    known = explain(cell, rate)
    if known:
        return known
    noise = abs(found - getattr(cell, rate)) <= 3 * error
    return "less than 3 standard errors" if noise else UNEXPLAINED


def compare(cell, result, scale, explain):
    """The two rows, of FPR and of FNR, of a cell."""
    for rate in "fpr", "fnr":
        printed, ours = getattr(cell, rate), 100 * result[rate]
        error = standard_error(result, rate)
        inside = is_within(rate, printed, ours)
        yield {"table": cell.table, "records_millions": cell.records_millions,
               "distinct_percent": cell.distinct_percent, "memory_mib": cell.memory_mib,
               "engine": cell.engine, "hashes": cell.hashes, "rate": rate,
               "printed_percent": printed, "ours_percent": f"{ours:.6g}",
               "difference_percent": f"{100 * (ours / printed - 1):.2f}",
               "tolerance_percent": tolerance(rate, printed),
               "standard_error_percent": f"{error:.2g}",
               "deviation_percent": f"{100 * result[rate + '_sd']:.2g}"
                                    if f"{rate}_sd" in result else "",
               "runs": len(result.get("runs", [0])), "scale": scale,
               "verdict": "within" if inside else "OUTSIDE",
               "remark": "" if inside else remark_on(cell, rate, ours, error, explain),
               "joint_percent": f"{100 * result[rate + '_joint']:.6g}", **source_of(result)}


def pair_up(rows):
    """FPR and FNR of a cell beside each other."""
    for fpr, fnr in zip(rows[::2], rows[1::2]):
        yield {"fpr": fpr, "fnr": fnr, **fpr}


def rate_columns(rate):
    """The three columns of one rate; a cell outside its tolerance is bold and says so."""
    def difference(row):
        text = f"{float(row[rate]['difference_percent']):+.2f} %"
        return text if row[rate]["verdict"] == "within" else f"**{text} OUTSIDE**"

    name = rate.upper()
    return {f"{name} % printed": lambda row: row[rate]["printed_percent"],
            f"{name} % ours": lambda row:
                f"{row[rate]['ours_percent']} ± {row[rate]['standard_error_percent']}",
            "difference" if rate == "fpr" else "difference ": difference}


def report_table(out, number, rows):
    first = rows[0]
    out.csv(f"table-{number}.csv", rows)
    out.say(f"### Table {number}: {first['records_millions']}M records, "
            f"{first['distinct_percent']} % distinct",
            table(pair_up(rows), {"memory": lambda row: f"{row['memory_mib']} MiB",
                                  "engine": "engine", "k": "hashes", **rate_columns("fpr"),
                                  **rate_columns("fnr")}))
    outside = [row for row in rows if row["verdict"] == "OUTSIDE"]
    out.say(*(f"- {row['memory_mib']} MiB, {row['engine']}, k={row['hashes']}, "
              f"{row['rate'].upper()}: {row['remark']}" for row in outside))


def report_sum(out, rows, scale):
    outside = [row for row in rows if row["verdict"] == "OUTSIDE"]
    unexplained = [row for row in outside if row["remark"] == UNEXPLAINED]
    out.say(f"{len(rows) - len(outside)} of {len(rows)} printed values are within their tolerance"
            f" at 1/{scale} of the paper's records and memory (FPR 1.5 %, FNR 5 % of the printed"
            f" value; 15 % where that is under 0.1 %). {len(outside)} are outside, "
            f"{len(unexplained)} of them unexplained. ± is the standard error.")
    return unexplained


def name_of(row):
    """A row of the tables, in words."""
    return f"table {row['table']}, {row['memory_mib']} MiB, {row['engine']}, k={row['hashes']}, " \
           f"{row['rate'].upper()}: printed {row['printed_percent']}, ours {row['ours_percent']}"


def report_tables(out, cells, results, scale, explain):
    """
    Tables in cells, one after another, with results by cell. explain(cell, rate): what is known
    about a printed value that cannot be met, or None. Returns the rows outside that nothing
    explains.
    """
    rows = [row for cell in cells for row in compare(cell, results[cell], scale, explain)]
    out.say("## Tables of bera-2012")
    unexplained = report_sum(out, rows, scale)
    for number in sorted({cell.table for cell in cells}):
        report_table(out, number, [row for row in rows if row["table"] == number])
    return unexplained


FULL = [(4, 64, engine) for engine in ENGINES] + [(8, 512, "rlbsbf")]
FULL_FILE = "full-scale.csv"


def measure_full(out, runs, cells, seed, explain):
    """Some cells with the paper's own numbers of records and memory."""
    cells = [cell for cell in cells if (cell.table, cell.memory_mib, cell.engine) in FULL]
    results = runs.ask(cell.options(1, seed, 1) for cell in cells)
    today = datetime.date.today().isoformat()
    out.csv(FULL_FILE, [{"date": today, **row} for cell in cells
                        for row in compare(cell, results[cell.options(1, seed, 1)], 1, explain)])


def report_full(out, measured):
    """measured: the file of measure_full()."""
    with open(measured, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    within = sum(row["verdict"] == "within" for row in rows)
    out.say("## Full scale", f"""
{within} of {len(rows)} values within their tolerance with the paper's own records and memory, measured on
{rows[0]["date"]} at commit {rows[0]["commit"]}, seed {rows[0]["seed"]}.
`make reproduce ONLY=full-scale` measures them again.""",
            table(pair_up(rows), {"table": "table", "memory": lambda row: f"{row['memory_mib']} MiB",
                                  "engine": "engine", "k": "hashes", **rate_columns("fpr"),
                                  **rate_columns("fnr")}))
