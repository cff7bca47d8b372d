#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the page for docs/guides/page.md: shots.py HONE WORKSPACE SEARCH DIR (needs chromedriver).

The workspace is a real one: its figures are what the pictures show."""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e"))
from browser import Browser  # noqa: E402

SIGNS = "[...document.querySelectorAll('.source')].flatMap((e) => [...e.shadowRoot.querySelectorAll('.sign')])"  # in the shadow roots
hone, workspace, search, out = sys.argv[1:5]
server = subprocess.Popen([hone, "serve", "--workspace", workspace, "--executor", "fake", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
try:
    url = next(m[1] for m in (re.search(r"(http://[0-9.:]+/\?token=\S+)", line) for line in server.stderr) if m)
    report = json.loads(subprocess.run([hone, "report", search, "--workspace", workspace, "--json"], capture_output=True, check=True).stdout)
    best = report["end"]["best_commit"]
    parent = next(s["parent"] for s in report["steps"] if s.get("commit") == best)
    before = next(s["commit"] for s in report["steps"] if s["node"] == parent and s.get("commit"))
    base = url.split("?")[0]
    with Browser() as b:
        b.go(url)
        b.until("document.querySelector('tbody tr')")
        for name, view, ready, width, height, scheme in (
                ("search", f"search/{search}", "document.querySelectorAll('.row').length > 3", 1000, 900, "light"),
                ("search-dark", f"search/{search}", "document.querySelectorAll('.row').length > 3", 1000, 900, "dark"),
                ("search-narrow", f"search/{search}", "document.querySelectorAll('.row').length > 3", 360, 900, "light"),
                ("version", f"search/{search}/version/{best}", "document.querySelector('.source')", 1000, 1100, "light"),
                ("machine", "machine", "document.querySelector('.cards')", 1000, 620, "light"),
                ("lines", f"search/{search}/version/{best}", "document.querySelector('.source')", 1000, 600, "light"),
                ("roofline", f"search/{search}/version/{best}", "document.querySelector('.roofline')", 1000, 640, "light"),
                ("compare", f"compare/{search}/{before}/{best}", "document.querySelector('.source')", 1000, 800, "light")):
            b.size(width, height)
            b.media(scheme)
            b.go(base + "#/")
            b.go(base + "#/" + view)
            if not b.until(ready):
                continue  # this search has nothing of it
            if name == "version":
                b.js("document.querySelector('h1').scrollIntoView()")
            if name == "roofline":
                b.js("document.querySelector('.roofline').closest('section').scrollIntoView()")
            if name == "lines":
                b.js("[...document.querySelectorAll('.source')].at(-1).scrollIntoView()")  # lines out of sight are not drawn
            if name == "lines" and not b.until(f"{SIGNS}.some((s) => s.textContent.trim())", 5):
                continue  # no profile names a line
            if name == "lines":
                b.js(f"{SIGNS}.find((s) => s.textContent.trim()).scrollIntoView({{block: 'center'}})")
            b.shot(os.path.join(out, name + ".webp"))
finally:
    server.terminate()
