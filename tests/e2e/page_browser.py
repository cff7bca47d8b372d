# SPDX-License-Identifier: Apache-2.0
"""Drives the page in Chromium over WebDriver, with the standard library alone.

page_browser.py SERVER_URL TOKEN SEARCH FILE HONE WORKSPACE: prints TAP. SHOTS=DIR keeps pictures."""
import base64
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

url, token, search, file, hone, workspace = sys.argv[1:7]
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
driver = subprocess.Popen(["chromedriver", f"--port={port}", "--silent"], stdout=subprocess.DEVNULL)
n = failed = 0


def call(path, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"},
                                     method=method or ("POST" if body is not None else "GET"))
    return json.load(urllib.request.urlopen(request, timeout=60))["value"]


def ok(holds, what, more=""):
    global n, failed
    n += 1
    failed += not holds
    print(f"{'ok' if holds else 'not ok'} {n} - {what}")
    if not holds:
        print("# " + str(more)[:1500].replace("\n", "\n# "))


def js(script):
    return call(f"/session/{session}/execute/sync", {"script": script, "args": []})


def go(where):
    call(f"/session/{session}/url", {"url": where})


def until(script, seconds=20):
    end = time.time() + seconds
    while time.time() < end:
        value = js("return " + script)
        if value:
            return value
        time.sleep(0.1)
    return None


def text():
    return js("return document.body.innerText")


def shot(name):
    if os.environ.get("SHOTS"):
        with open(os.path.join(os.environ["SHOTS"], name + ".png"), "wb") as f:
            f.write(base64.b64decode(call(f"/session/{session}/screenshot")))


def size(width, height):
    call(f"/session/{session}/window/rect", {"width": width, "height": height})


for _ in range(100):
    try:
        call("/status")
        break
    except OSError:
        time.sleep(0.1)
try:
    session = call("/session", {"capabilities": {"alwaysMatch": {
        "goog:loggingPrefs": {"browser": "ALL"},
        "goog:chromeOptions": {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]}}}})["sessionId"]
    size(1200, 900)
    go(url + "/")
    until("document.body.innerText.includes('did not work')")
    ok("needs" in text() or "connection" in text(), "without a token nothing is told", text())
    go(url + "/?token=" + token)
    until("document.querySelector('tbody tr')")
    ok("token" not in js("return location.href") and search in text(), "the token leaves the address, the searches are listed", text())
    shot("overview")
    go(url + "/#/search/" + search)
    until("document.querySelectorAll('.row').length > 3")
    ok("the baseline" in text() and "Way up" in text() and js("return document.querySelector('canvas').getAttribute('aria-label').includes('steps')"),
       "a search shows result, way up and tree", text())
    js("document.querySelectorAll('.row')[1].click()")
    ok("expected" in text() and js("return document.querySelectorAll('.row.is-here').length") == 1, "a row of the tree shows its step", text())
    shot("search")
    js("document.querySelector('canvas').focus(); document.querySelector('canvas').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))")
    ok(js("return document.querySelectorAll('.row.is-here').length") == 1, "arrow keys go along the way up")
    js("document.querySelectorAll('.row')[1].click(); document.querySelector('[aria-live] dd a').click()")
    until("document.querySelector('pre .line')")
    ok("/version/" in js("return location.hash") and "git show" in text(), "a version has an address and its source", text())
    js("[...document.querySelectorAll('button')].find((b) => b.textContent === 'against its parent').click()")
    ok(until("document.querySelector('.added')"), "a version against its parent")
    shot("version")
    ok(js("return document.title === document.title.replace(/[<>]/g, '') && !window.hacked"), "hostile text runs nothing")
    js("document.querySelector('a[href^=\"#/compare\"]').click()")
    ok(until("document.querySelectorAll('.split pre').length === 2"), "two versions side by side", text())
    shot("compare")
    js("history.back()")
    ok(until("document.body.innerText.includes('git show')"), "back goes back")
    go(url + "/#/machine")
    ok(until("document.body.innerText.includes('executor')"), "the machine", text())
    shot("machine")
    go(url + "/#/search/none")
    ok(until("document.body.innerText.includes('did not work')"), "an unknown search is said", text())

    # live: what another process finds arrives while one looks
    go(url + "/#/search/" + search)
    until("document.querySelectorAll('.row').length > 3")
    before = js("return document.querySelector('canvas').getAttribute('aria-label')")
    subprocess.run([hone, "search", search, "--workspace", workspace, "--executor", "fake", "--budget-evaluations", "60"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)
    changed = until("document.querySelector('canvas').getAttribute('aria-label') !== " + json.dumps(before), 30)
    ok(changed, "versions arrive while one looks", before)

    # the static file: same views, nobody is asked
    go("file://" + file)
    until("document.querySelector('tbody tr')")
    ok(search in text() and "a file" in text(), "the file lists its search", text())
    go("file://" + file + "#/search/" + search)
    until("document.querySelectorAll('.row').length > 3")
    js("document.querySelectorAll('.row')[1].click(); document.querySelector('[aria-live] dd a').click()")
    ok(until("document.querySelector('pre .line')") and "git show" in text(), "the file shows sources", text())
    size(360, 800)
    go("file://" + file + "#/search/" + search)
    until("document.querySelectorAll('.row').length > 3")
    ok(js("return document.documentElement.scrollWidth") <= js("return window.innerWidth") + 1, "360 pixels are wide enough",
       js("return document.documentElement.scrollWidth + ' of ' + window.innerWidth"))
    shot("narrow")
    log = [e["message"] for e in call(f"/session/{session}/se/log", {"type": "browser"}) if e["level"] == "SEVERE"]
    log = [m for m in log if "401" not in m and "WebSocket" not in m]
    ok(not log, "no error in the browser's console", "\n".join(log))
    os.symlink("other.html", file + ".link")
    told = subprocess.run([hone, "report", search, "--workspace", workspace, "--html", file + ".link"], capture_output=True, text=True)
    ok(told.returncode != 0 and os.path.islink(file + ".link") and "is a link" in told.stderr, "a link is not written over", told.stderr)
    call(f"/session/{session}", method="DELETE")
finally:
    driver.terminate()
print(f"1..{n}")
sys.exit(failed > 0)
