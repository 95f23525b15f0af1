# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a reproduction leaves: a Markdown report, CSV files and plots in one folder."""

import csv
import io
import os
import subprocess

from runs import command_of


def replace(path, text):
    """Write a file, or leave what was there: never half of it."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)


def source_of(result):
    """Where a row comes from, for the end of every row of every CSV."""
    return {"seed": result["seed"], "commit": result["commit"], "options": command_of(result)}


def table(rows, columns):
    """Rows (dicts) as a Markdown table. columns: heading: key, or a function of a row."""
    def cell(row, key):
        return str(key(row) if callable(key) else row[key])

    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell(row, key) for key in columns.values()) + " |" for row in rows]
    return "\n".join(lines) + "\n"


class Output:
    """The folder, and the report as it grows."""

    def __init__(self, folder):
        self.folder = folder
        self.parts = []
        os.makedirs(folder, exist_ok=True)

    def say(self, *paragraphs):
        self.parts += [text.strip() + "\n" for text in paragraphs]

    def csv(self, name, rows):
        """rows: dicts with the same keys."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        replace(os.path.join(self.folder, name), text.getvalue())

    def report(self):
        path = os.path.join(self.folder, "report.md")
        replace(path, "\n".join(self.parts))
        return path

    def plot(self, name, panels, title, note=""):
        """NAME.svg and NAME.png: panels side by side. Adds the plot to the report."""
        for terminal, size in ("svg", "enhanced background '#ffffff' font 'sans,12'"), \
                ("png", "font 'sans,9'"):
            target = f"{name}.{terminal}"
            script = f"set terminal {terminal} size {560 * len(panels)},460 {size}\n" \
                     f"set output '{target}.part'\n" + gnuplot_script(panels, title)
            subprocess.run(["gnuplot"], input=script, text=True, check=True, cwd=self.folder,
                           capture_output=True)
            os.replace(os.path.join(self.folder, target + ".part"),
                       os.path.join(self.folder, target))
        self.say(f"![{title}]({name}.svg)", f"{title}. {note}")


class Panel:
    """One pair of axes."""

    def __init__(self, x, y, log=False):
        self.x, self.y, self.log = x, y, log
        self.curves = []

    def curve(self, name, points, look):
        """name: None for none. points: pairs; those without a value (None) are left out."""
        points = [(x, y) for x, y in points if y is not None and (y > 0 or not self.log)]
        if points:
            title = f'title "{name}"' if name else "notitle"
            self.curves.append((points, f"with {look} {title}"))


def gnuplot_script(panels, title):
    script = [f"set multiplot layout 1,{len(panels)} title \"{title}\"", "set grid",
              "set bmargin 7", "set key bmargin center horizontal"]
    for i, panel in enumerate(panels):
        script += [f"set xlabel \"{panel.x}\"", f"set ylabel \"{panel.y}\"",
                   "set logscale y" if panel.log else "unset logscale y",
                   "set yrange [*:*]" if panel.log else "set yrange [0:*]"]
        for j, (points, _) in enumerate(panel.curves):
            script += [f"$p{i}_{j} << EOD", *(f"{x} {y}" for x, y in points), "EOD"]
        drawn = [f"$p{i}_{j} {look}" for j, (_, look) in enumerate(panel.curves)]
        script.append("plot " + ", ".join(drawn))
    return "\n".join(script) + "\nunset multiplot\n"
