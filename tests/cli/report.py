# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a browser makes of a report: report.py CHROMIUM FOLDER FILE... prints a line for each fault.

A copy of each page, with a script that the report does not have, writes the boxes of all texts of all
pictures into the page: none may leave its picture, lie on another, or be unlike its background.
"""

import json
import os
import re
import subprocess
import sys

SCRIPT = """
<script>
const faults = [];
const luminance = colour => { const [r, g, b] = colour.match(/[0-9.]+/g).map(Number);
	return .2126 * r + .7152 * g + .0722 * b; };
const page = getComputedStyle(document.documentElement).getPropertyValue('--page').trim();
const probe = document.createElement('p');
probe.style.color = page;
document.documentElement.append(probe);
const background = luminance(getComputedStyle(probe).color);
probe.remove();
let texts = 0;
for (const picture of document.querySelectorAll('svg svg, body > svg')) {
	const frame = picture.getBoundingClientRect(), boxes = [];
	for (const text of picture.querySelectorAll('text')) {
		const box = text.getBoundingClientRect(), what = text.textContent;
		texts++;
		if (Math.abs(luminance(getComputedStyle(text).fill) - background) < 100)
			faults.push('cannot be read: ' + what);
		if (box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom)
			faults.push('leaves its picture: ' + what);
		for (const [other, name] of boxes)
			if (box.left < other.right && other.left < box.right && box.top < other.bottom - 2 && other.top < box.bottom - 2)
				faults.push('lies on ' + name + ': ' + what);
		boxes.push([box, what]);
	}
}
if (!texts)
	faults.push('no text');
const result = document.createElement('pre');
result.textContent = 'RESULT' + JSON.stringify(faults) + 'END';
document.documentElement.append(result);
</script>
"""


def browse(chromium, folder, *arguments):
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               f"--user-data-dir={folder}/chromium", "--window-size=900,1600", *arguments]
    return subprocess.run(command, check=True, timeout=300, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


def check(chromium, folder, path, dark):
    copy = os.path.join(folder, "copy.html")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".svg"):
        text = f"<!DOCTYPE html><meta charset=utf-8><body>{text}</body>"
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text + SCRIPT)
    dumped = browse(chromium, folder, f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                    "--dump-dom", f"file://{copy}")
    found = re.search("RESULT(.*)END</pre>", dumped)
    faults = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")) if found else ["the script did not run"]
    for fault in faults:
        print(f"{os.path.basename(path)}{', dark' if dark else ''}: {fault}")


for report in sys.argv[3:]:
    for scheme in (False, True):
        check(sys.argv[1], sys.argv[2], report, scheme)
