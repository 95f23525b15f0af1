# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs of xdp-dedup simulate, kept, so that whoever was interrupted goes on where he was."""

import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
import time


class RunFailed(Exception):
    """A run that ended badly; the text says which one, and why."""


class Runs:
    """
    Asks the program, or the folder where an answer of the same program (byte by byte, and so also
    of the same commit) to the same options is kept.
    """

    def __init__(self, program, folder, jobs):
        self.program = program
        self.folder = folder
        self.jobs = jobs
        self.running = set()
        with open(program, "rb") as file:
            self.build = hashlib.sha256(file.read()).hexdigest()
        os.makedirs(folder, exist_ok=True)

    def version(self):
        """The program's version and commit, as it says."""
        return self._output([self.program, "--version"])[1].strip()

    def _path(self, options):
        key = hashlib.sha256(" ".join((self.build,) + options).encode()).hexdigest()
        return os.path.join(self.folder, f"{key[:24]}.json")

    def _kept(self, options):
        try:
            with open(self._path(options), encoding="utf-8") as file:
                return json.load(file)
        except (FileNotFoundError, ValueError):
            return None

    def _keep(self, options, text):
        path = self._path(options)
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".part", path)

    def _output(self, command):
        """The exit code and both outputs of a command that _stop() can end."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            self.running.add(process)
            output, errors = process.communicate()
            self.running.discard(process)
            return process.returncode, output, errors

    def _run(self, options):
        command = [self.program, "simulate", *options, "--json"]
        code, output, errors = self._output(command)
        try:
            result = json.loads(output) if code == 0 else None
        except ValueError:
            result = None
        if result is None:
            raise RunFailed(f"{' '.join(command)}: exit code {code}: {errors.strip() or 'no JSON'}")
        self._keep(options, output)
        return result

    def _stop(self, pool):
        pool.shutdown(wait=False, cancel_futures=True)
        for process in list(self.running):
            process.terminate()

    def ask(self, wanted):
        """The results of all tuples of options in wanted, by tuple; reports progress on stderr."""
        wanted = list(dict.fromkeys(wanted))
        results = {options: self._kept(options) for options in wanted}
        missing = [options for options in wanted if results[options] is None]
        if len(missing) < len(wanted):
            say(f"{len(wanted) - len(missing)} of {len(wanted)} runs are there already")
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            running = {pool.submit(self._run, options): options for options in missing}
            try:
                for n, run in enumerate(concurrent.futures.as_completed(running), 1):
                    results[running[run]] = run.result()
                    left = (time.monotonic() - start) / n * (len(missing) - n)
                    say(f"{n}/{len(missing)}, about {left / 60:.1f} min left: "
                        f"{' '.join(running[run])}")
            except BaseException:
                self._stop(pool)
                raise
        return results


def say(text):
    print(f"reproduce: {text}", file=sys.stderr, flush=True)


def command_of(result):
    """The options of a run as they would be typed."""
    return " ".join(f"--{name}" if value is True else f"--{name} {value}"
                    for name, value in result["options"].items())
