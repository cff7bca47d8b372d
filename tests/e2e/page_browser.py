# SPDX-License-Identifier: Apache-2.0
"""Drives the page in Chromium over WebDriver, with the standard library alone.

page_browser.py SERVER_URL TOKEN SEARCH FILE HONE WORKSPACE VIEWER_TOKEN HOSTILE_COMMIT LARGE_WORKSPACE: prints TAP. SHOTS=DIR keeps pictures."""
import atexit
import json
import os
import re
import subprocess
import sys
import time

import page_places
from browser import Browser

url, token, search, file, hone, workspace, viewer, hostile, large_ws = sys.argv[1:10]
downloads = os.path.join(os.path.dirname(file), "downloads")
axe_file = "build/page/node_modules/axe-core/axe.min.js"
axe = open(axe_file).read() if os.path.exists(axe_file) else ""
SOURCE = page_places.SOURCE
n = failed = 0


def ok(holds, what, more=""):
    global n, failed
    n += 1
    failed += not holds
    print(f"{'ok' if holds else 'not ok'} {n} - {what}")
    if not holds:
        print("# " + str(more)[:1500].replace("\n", "\n# "))


def press(words):
    js("[...document.querySelectorAll('button')].find((b) => b.textContent === " + json.dumps(words) + ").click()")


def serve(port):
    """A server of our own on the large workspace: its process and its port."""
    server = subprocess.Popen([hone, "serve", "--workspace", large_ws, "--executor", "fake", "--listen", f"127.0.0.1:{port}"],
                              stderr=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    return server, next(m[1] for m in (re.search(r"ws://127.0.0.1:([0-9]+)/", line) for line in server.stderr) if m)


def audit(name, where="document"):
    """axe-core's rules on what is shown (or on one element of it, as a selector in quotes), in the light and in the dark; skipped where npm did not bring it."""
    found = []
    for scheme in ("light", "dark") if axe else ():
        media(scheme)
        said = js(axe + ";return axe.run(" + where + ", {resultTypes: ['violations']})")
        found += [f"{scheme}: {v['impact']}: {v['id']}: {v['help']}: {node['html'][:200]} {node['failureSummary'][:300]}"
                  for v in said["violations"] for node in v["nodes"][:3]]
    media("light")
    ok(not found, f"{name}: axe-core finds nothing" + ("" if axe else " # SKIP no axe-core"), "\n".join(found))


def shot(name):
    if os.environ.get("SHOTS"):
        browser.shot(os.path.join(os.environ["SHOTS"], name + ".png"))


with Browser(downloads) as browser:
    js, go, until, text, size, media = browser.js, browser.go, browser.until, browser.text, browser.size, browser.media
    size(1200, 900)
    go(url + "/")
    until("document.body.innerText.includes('did not work')")
    ok("needs" in text() or "connection" in text(), "without a token nothing is told", text())
    go(url + "/?token=" + token)
    until("document.querySelector('tbody tr')")
    ok("token" not in js("return location.href") and search in text(), "the token leaves the address, the searches are listed", text())
    shot("overview")
    audit("overview")
    go(url + "/#/search/" + search)
    until("document.querySelectorAll('.row').length > 3")
    ok("the baseline" in text() and "Way up" in text() and js("return document.querySelector('.way-up').getAttribute('aria-label').includes('steps')"),
       "a search shows result, way up and tree", text())
    js("document.querySelectorAll('.row')[1].click()")
    ok("expected" in text() and js("return document.querySelectorAll('.row.is-here').length") == 1, "a row of the tree shows its step", text())
    shot("search")
    audit("search")
    js("document.querySelector('.way-up').focus(); document.querySelector('.way-up').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))")
    ok(js("return document.querySelectorAll('.row.is-here').length") == 1, "arrow keys go along the way up")
    down = js("const t = document.querySelector('.tree'); t.focus(); const key = (k) => t.dispatchEvent(new KeyboardEvent('keydown', {key: k}));"
              "key('Home'); key('ArrowDown'); key('ArrowDown'); return document.activeElement === t && document.querySelectorAll('.row')[2].classList.contains('is-here')"
              " && [...document.querySelectorAll('.row')].every((r) => r.tabIndex === -1)")
    ok(down, "the tree is one stop of the Tab key, arrow keys go through it")
    js("document.querySelectorAll('.row')[1].dispatchEvent(new MouseEvent('mouseenter'))")
    ok(js("return document.querySelector('.near').textContent.includes(document.querySelectorAll('.row')[1].title) && document.querySelectorAll('.row.is-near').length") == 1,
       "what the pointer stands on is told and marked", text())
    js("window.drawn_ = document.querySelector('.way-up canvas').toDataURL(); [...document.querySelectorAll('label')].find((l) => l.textContent.includes('over time')).querySelector('input').click()")
    ok(until("document.querySelector('.way-up canvas').toDataURL() !== window.drawn_"), "the way up over time")
    js("document.querySelectorAll('.row')[1].click()")
    js("document.querySelector('[aria-live] details').open = true")
    ok(until("[...document.querySelectorAll('[aria-live] details td b')].some((e) => e.innerText === 'chosen')"),
       "what a step was chosen among, with priors", text())
    ok("Latest" in text() and js("return [...document.querySelectorAll('h2')].find((e) => e.textContent === 'Latest').nextElementSibling.querySelectorAll('tbody tr').length") == 8, "what came last", text())
    js("document.querySelector('[aria-live] dd a').click()")
    until(SOURCE + ".querySelector('.cm-line')")
    ok("/version/" in js("return location.hash") and "git show" in text(), "a version has an address and its source", text())
    press("against its parent")
    ok(until("document.querySelectorAll('.source').length === 2 && document.querySelector('.source').shadowRoot.querySelector('.cm-changedLine, .cm-insertedLine')"), "a version against its parent")
    ok("share of the bound" in text() and "8 %" in text() and js("return document.querySelector('.gauge') !== null"), "a version shows its times and its share of the bound", text())
    ok(js("return document.querySelectorAll('.roofline .own').length") > 0 and "of its roof" in text() and "moving data:" in text(),
       "and where it stands below the roofs", text())
    shot("version")
    audit("version with a difference")
    here = js("return location.hash")
    # taking it home: with a test (which the fake executor cannot make) and without
    press("take it home")
    ok(until("document.querySelector('.panel [role=status]').textContent.includes('oracle')"), "why an export failed is said", text())
    js("document.querySelector('input[type=checkbox]').click()")
    press("take it home")
    ok(until("document.querySelectorAll('.files a[download]').length >= 2"), "an export gives files", text())
    names = js("return [...document.querySelectorAll('.files a')].map((a) => a.download)")
    js("document.querySelector('.files a').click()")
    landed = os.path.join(downloads, names[0])
    page_places.wait_for(landed)
    ok({f"{search}.c", f"{search}.h"} <= set(names) and os.path.exists(landed) and f"{search}(" in open(landed).read(),
       "source and header, which a click saves", names)
    page_places.check_archive(browser, ok, downloads, search)
    go(url + "/#/search/" + search + "/version/" + hostile)
    ok(until(SOURCE + " && " + SOURCE + ".textContent.includes('</script>')"), "a hostile source is shown as text", text())
    ok(js("return !window.hacked && document.querySelector('img') === null && " + SOURCE + ".querySelector('img, script') === null && document.scripts.length === 1"), "hostile text runs nothing")
    go(url + "/" + here)
    until("document.querySelector('a[href^=\"#/compare\"]')")
    js("document.querySelector('a[href^=\"#/compare\"]').click()")
    ok(until(SOURCE + " && " + SOURCE + ".querySelectorAll('.cm-content').length === 2"), "two versions side by side", text())
    js("document.querySelector('.source').scrollIntoView()")  # lines out of sight are not drawn
    ok(until("(() => { const lines = [...%s.querySelectorAll('.cm-content')].map((e) => [...e.querySelectorAll('.cm-line:not(.cm-changedLine)')].map((l) => l.textContent));"
             "return lines[0].length > 3 && lines[0].join() === lines[1].join(); })()" % SOURCE), "their equal lines are the same", text())
    ok(js("return %s.querySelectorAll('.cm-changedText').length > 0 && new Set([...%s.querySelectorAll('.cm-line span')].map((e) => getComputedStyle(e).color)).size > 2" % (SOURCE, SOURCE)),
       "what changed within a line stands out, sources are highlighted")
    press("next change")
    ok(js("return document.querySelector('.bar [role=status]').textContent.startsWith('change 1 of ')"), "from change to change", text())
    shot("compare")
    audit("compare")
    ok("What changed" in text() and "time of" in text() and js("return document.querySelectorAll('select')[1].options.length") > 2,
       "what changed between them, and other versions to choose", text())
    press("swap")
    ok(until(SOURCE + " && " + SOURCE + ".querySelectorAll('.cm-content').length === 2"), "the two change places", text())
    js("history.back()")
    js("history.back()")
    ok(until("document.body.innerText.includes('git show')"), "back goes back")
    go(url + "/#/machine")
    ok(until("document.body.innerText.includes('executor')") and js("return document.querySelector('main pre') === null && document.querySelectorAll('main table').length > 0")
       and "[object" not in text(), "the machine", text())
    shot("machine")
    audit("machine")
    go(url + "/#/search/none")
    ok(until("document.body.innerText.includes('There is no such search')") and not js("return document.querySelector('main form')")
       and js("return document.querySelector('main a').getAttribute('href')") == "#/", "an unknown search is said, with a way back and no token form", text())

    go(url + "/#/search/" + search)
    ok(until("[...document.querySelectorAll('option')].some((o) => o.value === 'thinking')"), "other searches to compare with", text())
    js("const o = [...document.querySelectorAll('option')].find((o) => o.value === 'thinking').parentElement; o.value = 'thinking'; o.dispatchEvent(new Event('change'))")
    ok(until("document.querySelector('.two canvas')") and "not comparable" in text() and "What paid" in text(), "two searches, of different tasks", text())
    ok(js("return document.querySelector('.comparable').compareDocumentPosition(document.querySelector('main table')) & 4"), "whether they are comparable stands before the figures")
    ok(js("return [...document.querySelectorAll('main table')][1].innerText.includes(' of ')"), "what paid in each", text())
    shot("searches")
    audit("two searches")
    go(url + "/#/search/thinking")
    until("document.querySelector('details')")
    ok("asked" in text() and "tokens in" in text(), "what models cost", text())
    js("[...document.querySelectorAll('details')].forEach((d) => { d.open = true; })")
    ok(until("document.querySelector('details pre').textContent.includes('<img src=x')") and not js("return window.hacked"), "what they answered is text", text())
    audit("models")

    page_places.check_live(browser, ok, press, url, search)
    page_places.check_folds(browser, ok, shot, url, search)
    audit("tree with folds", "'.tree'")
    page_places.check_built(browser, ok, press, shot, url, search)
    audit("what the compiler made", "'.built'")

    # live: what another process finds arrives while one looks
    go(url + "/#/search/" + search)
    until("document.querySelectorAll('.row').length > 3")
    before = js("return document.querySelector('.way-up').getAttribute('aria-label')")
    subprocess.run([hone, "search", search, "--workspace", workspace, "--executor", "fake", "--budget-evaluations", "60"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False)
    changed = until("document.querySelector('.way-up').getAttribute('aria-label') !== " + json.dumps(before))
    ok(changed, "versions arrive while one looks", before)
    until("document.body.innerText.includes('the baseline')")
    n_steps = len(json.loads(subprocess.run([hone, "report", search, "--workspace", workspace, "--json"], capture_output=True, check=True).stdout)["steps"])
    until("document.querySelector('.way-up').getAttribute('aria-label').includes(': %d steps')" % n_steps)
    read_on = js("return document.querySelector('.way-up').getAttribute('aria-label')")
    js("location.reload()")
    until("document.querySelectorAll('.row').length > 3")
    ok(js("return document.querySelector('.way-up').getAttribute('aria-label')") == read_on, "what was read on is what a new look reads", read_on)

    # steering one that runs in another process, and waits there for steps from outside
    running = subprocess.Popen([hone, "search", "softmax", "--workspace", workspace, "--executor", "fake", "--planner", "external",
                                "--budget-evaluations", "1000", "--wait-submissions", "1h"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(running.kill)
    go(url + "/#/")
    for _ in range(60):
        js("location.hash = '#/search/none'; location.hash = '#/search/softmax'")
        if until("document.body.innerText.includes('pause')", 3):
            break
    press("pause")
    ok(until("[...document.querySelectorAll('[role=status]')].some((e) => e.textContent === 'pause: asked')"), "a running search is steered", text())
    js("document.querySelector('input[aria-label=Hint]').value = '<img src=x onerror=window.hacked=1>'")
    press("hint")
    ok(until("document.body.innerText.includes('hint <img')") and not js("return window.hacked"), "a hint for models is asked for, listed, and text", text())
    press("stop")
    try:
        ended = running.wait(300) is not None
    except subprocess.TimeoutExpired:
        ended = False
    ok(ended and until("document.body.innerText.includes('stopped')"), "it stops, and the page says so", text())

    # a viewer sees everything and is offered nothing that the server would refuse
    go(url + "/?token=" + viewer)
    until("document.querySelector('tbody tr')")
    go(url + "/#/search/" + search)
    ok(until("document.body.innerText.includes('This token may read')") and not js("return [...document.querySelectorAll('button')].some((b) => ['pause', 'take it home'].includes(b.textContent))"),
       "a viewer is offered neither steering nor export", text())
    js("document.querySelector('.path a, table a').click()")
    ok(until("document.querySelector('.code-of').innerText.includes('This token may not compile')") and not js("return document.querySelector('.code-of button')"), "a viewer is told that it may not compile", text())
    refused = js("""return new Promise((done) => {
        const s = new WebSocket(location.origin.replace('http', 'ws') + '/mcp', ['mcp']);
        s.onopen = () => s.send(JSON.stringify({jsonrpc: '2.0', id: 1, method: 'initialize', params: {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 't', version: '1'}}}));
        s.onmessage = (m) => {
            if (JSON.parse(m.data).id === 2) done(m.data);
            else s.send(JSON.stringify({jsonrpc: '2.0', id: 2, method: 'tools/call', params: {name: 'version_export', arguments: {version: '%s', no_test: true}}}));
        };
    })""" % search)
    ok("files" not in refused and "viewer" in refused, "the server refuses a viewer's export", refused)

    # ten thousand versions. Times are told, not judged: another program may have the processor
    server, port = serve(0)
    large = "http://127.0.0.1:" + port
    with open(os.path.join(large_ws, ".hone/token")) as f:
        large_token = f.read().strip()
    go(large + "/?token=" + large_token)
    until("document.querySelector('tbody tr')")
    for visit in ("first", "second"):
        go(large + "/")
        go(large + "/#/search/large")
        js("location.reload()")
        ok(until("document.querySelectorAll('.row').length > 3"), f"ten thousand versions, {visit} view", text())
        print("# %s view after %d ms" % (visit, until("performance.getEntriesByName('shown')[0].startTime") or -1))
    ok(js("return document.querySelectorAll('.row').length") < 100 and js("return document.querySelector('.tree > div').clientHeight") > 200000,
       "of the tree's rows only those in sight exist", js("return document.querySelector('.tree > div').clientHeight"))
    for act, fewest in (("ArrowLeft", 1), ("ArrowRight", 10)):
        js(page_places.KEY + "t.scrollTop = 0; key('Home'); key('%s')" % act)
        ok(fewest <= js("return document.querySelectorAll('.row').length") < (2 if fewest == 1 else 100), "ten thousand versions: " + act + " folds or unfolds them", js("return document.querySelectorAll('.row').length"))
    for what, act in (("scrolling the tree", "document.querySelector('.tree').scrollTop += 400"),
                      ("folding and unfolding", "document.querySelector('.tree').dispatchEvent(new KeyboardEvent('keydown', {key: (window.fold_ = !window.fold_) ? 'ArrowLeft' : 'ArrowRight'}))"),
                      ("going from step to step", "document.querySelector('.way-up').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))")):
        js("window.frames_ = null; const at = []; requestAnimationFrame(function f(now) { at.push(now); " + act + "; "
           "if (at.length < 61 && now - at[0] < 30000) requestAnimationFrame(f); else window.frames_ = at.slice(1).map((t, i) => t - at[i]).sort((a, b) => a - b); })")
        frames = until("window.frames_")
        ok(frames, what + " ends")
        print("# %s: median frame %.1f ms, 95 %% %.1f ms" % (what, frames[len(frames) // 2], frames[len(frames) * 95 // 100]) if frames else "# no frame of " + what)
    browser.of_session("goog/cdp/execute", {"cmd": "HeapProfiler.collectGarbage", "params": {}})
    print("# %.0f MB of JavaScript" % (browser.of_session("goog/cdp/execute", {"cmd": "Runtime.getHeapUsage", "params": {}})["usedSize"] / 1e6))

    # the server goes away, and another one comes: it knows no cookie of the first
    server.terminate()
    server.wait()
    ok(until("document.getElementById('link').innerText.includes('not connected')"), "that the server is gone is said", text())
    ok(js("return document.querySelectorAll('.row').length") > 3, "what was shown stays")
    server, port = serve(port)
    ok(until("document.getElementById('link').innerText.includes('wants its token')"), "a server that began anew asks for its token", text())
    audit("token form", "'#link'")  # of the view behind it there are ten thousand versions
    js("document.querySelector('#link input').value = " + json.dumps(large_token))
    time.sleep(9)  # it tries to connect every eight seconds
    ok(js("return document.querySelector('#link input').value") == large_token, "what is typed there stays", text())
    js("document.querySelector('#link button').click()")
    ok(until("document.querySelector('tbody tr') && document.getElementById('link').innerText === 'connected'"), "and takes it", text())
    server.terminate()
    server.wait()

    # the static file: same views, nobody is asked
    go("file://" + file)
    until("document.querySelector('tbody tr')")
    ok(search in text() and "a file" in text(), "the file lists its search", text())
    go("file://" + file + "#/search/" + search)
    until("document.querySelectorAll('.row').length > 3")
    js("document.querySelectorAll('.row')[1].click(); document.querySelector('[aria-live] details').open = true")
    ok(until("[...document.querySelectorAll('[aria-live] details td b')].some((e) => e.innerText === 'chosen')"), "the file has what gains were chosen among", text())
    js("document.querySelector('[aria-live] dd a').click()")
    ok(until(SOURCE + " && " + SOURCE + ".querySelector('.cm-line')") and "git show" in text(), "the file shows sources", text())
    ok("A file compiles nothing" in text(), "the file says that it has no machine code", text())
    # lines that a profile names, in a copy of the file
    data, head, tail = page_places.unpacked(file)
    commit = next(iter(data["measured"]))
    data["measured"][commit]["profile"] = {"bottlenecks": [{"class_name": "strided", "rule": "<img src=x onerror=window.hacked=1>", "line": 3, "score": 1}],
                                           "remarks": [{"line": 4, "kind": "missed", "message": "not vectorized"}, {"line": 0, "kind": "none", "message": "nowhere"}]}
    data["measured"][commit]["workloads"][0]["ratios"][0].update({"low": None, "high": None})  # a short look has no interval
    for w in data["measured"][commit]["workloads"]:
        w.pop("least_flops", None)  # a task whose operations are guessed has no roofline
    data["report"]["in_hand"] = {"strategy": "C08", "rule": "parallelism_bound"}
    end = data["report"]["end"]
    end["yardsticks"] = [{"name": "torch eager", "ratio": 1.25, "low": 1.2, "high": 1.3}, {"name": "fast-math", "ratio": 0.86, "low": 0.7, "high": 1.2}]
    end.pop("doubt", None)
    end.update({"verdict": "faster", "speedup": 5.25, "ci": [4, 6]})
    doubted = dict(data["searches"][0], name="doubted", end=dict(end, doubt="others used the cores", speedup=119))
    open_ = {"speedup": None, "verdict": "", "unconfirmed": "12 s were left; --budget-wall 90s has room"}
    data["searches"] = [dict(data["searches"][0], end=end), doubted, dict(data["searches"][0], name="late", end=dict(end, **open_))]
    page_places.packed(file + ".hot.html", data, head, tail)
    go("file://" + file + ".hot.html#/search/" + search + "/version/" + commit)
    ok(until("document.body.innerText.includes('operations and bytes are guessed')") and not js("return document.querySelector('.roofline')"),
       "no roofline where operations are guessed", text())
    until(SOURCE + ".querySelector('.cm-line')")
    ok(js("const lines = [...%s.querySelectorAll('.cm-line')]; return lines.filter((l) => l.classList.contains('hot')).length === 1 && lines[2].classList.contains('hot') && !window.hacked" % SOURCE)
       and "strided: <img" in text() and "not vectorized" in text() and "nowhere" not in text(), "hot lines are marked and told", text())
    shot("lines")
    go("file://" + file + ".hot.html#/")
    ok(until("document.body.innerText.includes('2 results may be claimed') || document.querySelector('.counts')") and "1 result may be claimed" in text()
       and "1 may not, 1 unconfirmed" in text(), "what may be claimed is counted", text())
    ok("119x" in text() and js("return document.querySelectorAll('tbody tr')[1].querySelector('.good')") is None
       and "not to be claimed: others used the cores" in text(), "a doubted result is not green and says why", text())
    ok("slower than the baseline built with -ffast-math: 0.86x [0.7, 1.2], not surely" in js("return document.querySelector('td .bad').innerText"), "a row says that fast math alone is faster", text())
    size(360, 800)
    ok(js("const r = document.querySelectorAll('tbody tr')[1], e = r.querySelector('[data-head=verdict]').getBoundingClientRect();"
          "return e.right <= innerWidth && e.left >= 0 && getComputedStyle(r).display === 'block'"), "360 pixels: a card a search", text())
    size(1200, 900)
    go("file://" + file + ".hot.html#/search/" + search)
    ok(until("document.querySelector('.result + .bad').innerText.startsWith('slower than the baseline built with -ffast-math: 0.86x')"), "the headline says that fast math alone is faster", text())
    ok("Expected against came out" in text() and "came out over expected" in text(), "what was expected against what came out", text())
    confirmed = next((s["commit"] for s in data["report"]["steps"] if s["kind"] == "confirm" and s.get("commit")), None)
    ok(confirmed and js("const r = [...document.querySelectorAll('.row')].find((e) => e.textContent.startsWith('◆')); if (r) r.click();"
       "return !document.querySelector('[aria-live]').innerText.includes('screened')"), "a confirmed version is not called screened", text())
    ok(until("document.body.innerText.includes('over torch eager')") and "1.25x [1.2, 1.3]" in text(), "what people compare with stands with the result", text())
    ok("Now: C08, parallelism_bound" in text(), "the step in hand is told", text())
    js("history.back()")
    until(SOURCE + " && " + SOURCE + ".querySelector('.hot')")
    audit("lines")
    page_places.check_file(browser, ok, file, search)
    size(360, 800)
    go("file://" + file + "#/search/" + search)
    until("document.querySelectorAll('.row').length > 3")
    ok(js("return document.documentElement.scrollWidth") <= js("return window.innerWidth") + 1, "360 pixels are wide enough",
       js("return document.documentElement.scrollWidth + ' of ' + window.innerWidth"))
    shot("narrow")
    audit("narrow")
    log = [e["message"] for e in browser.of_session("se/log", {"type": "browser"}) if e["level"] == "SEVERE"]
    # the page asks GET /mcp after a connection broke: 401 wants a token, 405 is how a server answers one that it takes
    log = [m for m in log if not any(w in m for w in ("401", "/mcp - Failed to load resource: the server responded with a status of 405", "WebSocket", "ERR_CONNECTION", "/mcp - Failed to load resource: net::ERR_SOCKET_NOT_CONNECTED"))]
    ok(not log, "no error in the browser's console", "\n".join(log))
    os.symlink("other.html", file + ".link")
    told = subprocess.run([hone, "report", search, "--workspace", workspace, "--html", file + ".link"], capture_output=True, text=True)
    ok(told.returncode != 0 and os.path.islink(file + ".link") and "is a link" in told.stderr, "a link is not written over", told.stderr)
print(f"1..{n}")
sys.exit(failed > 0)
