# SPDX-License-Identifier: Apache-2.0
"""Parts of page_browser.py: what an address keeps, and what a figure says that it stands on."""
import base64
import copy
import gzip
import json
import os
import time
import zipfile

from browser import WAIT_S

# The last source on the page; sources stand in shadow roots.
SOURCE = "[...document.querySelectorAll('.source')].map((e) => e.shadowRoot).at(-1)"
LATENCY = "warps wait (smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct 91.24, smsp__warps_eligible.avg.per_cycle_active 0.6035)"
# Figures of more than six digits, each standing alone: names, dates of compilers and hashes have letters or lines in them.
RAW = ("[...document.querySelectorAll('main td, main dd')].flatMap((e) => e.innerText.split(/, |: |\\n/))"
       ".filter((t) => /^-?[0-9.]+(e[-+]?[0-9]+)?$/.test(t) && t.replace(/[^0-9]/g, '').length > 6)")
# What a server tells of itself while another program has its processor.
BUSY = ("const parse = JSON.parse; JSON.parse = (text) => { const o = parse(text); if (o && o.devices) { o.load = 4.599609375; o.caches[0].size_bytes = 520192000;"
        "o.devices[0].lease = {held: true, by: 'pid 7 (sum, screen, call 20261127-115102-447-19222266)', waiting: []}; } return o; }")
LOW = "const low = new CSSStyleSheet(); low.replaceSync('#view > div {max-height: 300px; overflow: hidden}'); document.adoptedStyleSheets = [low]; "
TOP = "document.querySelector('[aria-live].panel').getBoundingClientRect().top"


def wait_for(file):
    for _ in range(10 * WAIT_S):
        if os.path.exists(file):
            break
        time.sleep(0.1)


def unpacked(file):
    """The data of a static file, and what stands before and behind them."""
    with open(file) as f:
        head, rest = f.read().split('id="data">', 1)
    data, tail = rest.split("</script>", 1)
    return json.loads(gzip.decompress(base64.b64decode(data))), head, tail


def packed(path, data, head, tail):
    with open(path, "w") as f:
        f.write(head + 'id="data">' + base64.b64encode(gzip.compress(json.dumps(data).encode())).decode() + "</script>" + tail)
    return "file://" + path


def check_live(b, ok, press, base, search):
    """base: address of the server that the browser has a token of."""
    js, until, text = b.js, b.until, b.text
    b.size(1280, 900)
    b.go(base + "/#/search/" + search)
    until("document.querySelectorAll('.row').length > 3")
    js("document.querySelectorAll('.row')[2].click()")
    ok(js(f"return {TOP} >= 0 && {TOP} + 200 < innerHeight && document.querySelectorAll('.row')[2].getBoundingClientRect().top >= 0"),
       "what is told of a step is in sight, below the tree", js(f"return {TOP}"))
    js("[...document.querySelectorAll('label')].find((l) => l.textContent.includes('over time')).querySelector('input').click()")
    where = until("location.hash.includes('step=') && location.hash")
    js("location.reload()")
    until("document.querySelectorAll('.row.is-here').length")
    ok(where and "x=time" in where and js("return location.hash") == where and js("return document.querySelectorAll('.row')[2].classList.contains('is-here')")
       and js("return [...document.querySelectorAll('label')].find((l) => l.textContent.includes('over time')).querySelector('input').checked"),
       "the chosen step and the time axis are kept in the address", where)
    until("(scrollTo(0, 500), scrollY === 500)")
    # a part that arrives late may move what is in sight by some pixels: the place is where it is left
    place = js("const y = scrollY; document.querySelector('[aria-live] dd a').click(); return y")
    until("document.body.innerText.includes('git show')")
    ok(js("return scrollY") == 0, "another view begins at its top", js("return scrollY"))
    js("history.back()")
    until("document.querySelectorAll('.row.is-here').length")
    ok(place > 300 and until(f"Math.abs(scrollY - {place}) < 3"), "back goes back to the place",
       [place, js("return scrollY")])
    # the same where the view becomes tall late, and where a scroll of the view that is left is still to be kept
    js("history.forward()")
    until("document.body.innerText.includes('git show')")
    js(LOW + "scrollTo(0, 40); requestAnimationFrame(() => requestAnimationFrame(() => history.back()))")
    until("document.querySelectorAll('.row.is-here').length")
    time.sleep(2.5)
    js("document.adoptedStyleSheets = []")
    ok(until(f"Math.abs(scrollY - {place}) < 3"), "and so where what it shows arrives late", [place, js("return scrollY")])
    # what ended is not drawn again: who reads a table keeps it
    js("window.kept_ = document.querySelector('.path a, table a'); kept_.focus()")
    time.sleep(5)
    ok(js("return document.activeElement === kept_ && kept_.isConnected"), "an ended search is not drawn again under the reader")
    js("kept_.click()")
    until("document.body.innerText.includes('git show')")
    press("against the baseline" if "against the baseline" in text() else "against its parent")
    until("document.querySelectorAll('.source').length === 2")
    ok(js("return location.hash.includes('against=') && document.querySelector('.source').getBoundingClientRect().top < innerHeight - 200"),
       "a difference opens in sight, its address says which", js("return location.hash"))
    js("location.reload()")
    ok(until("document.querySelectorAll('.source').length === 2"), "and opens it again", text())
    js(BUSY)
    b.go(base + "/#/machine")
    ok(until("document.body.innerText.includes('Machines measured')") and "This server" in text()
       and js("return [...document.querySelectorAll('.cards td a')].some((a) => a.textContent === " + json.dumps(search) + ")")
       and "10 GB/s" in text() and "10 Gop/s" in text(), "machines measured: which searches, what rates", text())
    js("[...document.querySelectorAll('main details')].forEach((d) => { d.open = true; })")
    ok(until("document.querySelector('main details dl').innerText.includes('520 MB') || document.querySelector('main details table').innerText.includes('520 MB')") and "in use: pid 7 (sum, screen)" in text()
       and "4.6" in text() and not js("return " + RAW), "no figure without a unit or unrounded", js("return " + RAW) or text())
    js("location.reload()")
    b.size(1200, 900)


KEY = "const t = document.querySelector('.tree'), key = (k) => t.dispatchEvent(new KeyboardEvent('keydown', {key: k})), rows = () => [...document.querySelectorAll('.row')], here = () => document.querySelector('.row.is-here'); t.focus();"
ALL_ROWS = "const t = document.querySelector('.tree'); t.style.height = '3000px'; t.dispatchEvent(new Event('scroll')); "


def check_folds(b, ok, shot, base, search):
    """Branches of the tree are folded and unfolded, and the address keeps that."""
    js, until, text = b.js, b.until, b.text
    b.go(base + "/#/machine")
    at = base + "/#/search/" + search
    b.go(at)
    until("document.querySelectorAll('.row').length > 3")
    whole = js(ALL_ROWS + "return [...document.querySelectorAll('.row')].map((r) => r.innerText)")
    speeds = [float(line.split()[1][:-1]) for line in whole[1:] if line.split()[0] not in "\u2715\u2298" and line.split()[1].endswith("x")]
    told = js(KEY + "key('Home'); key('ArrowLeft'); return [rows().length, here().getAttribute('aria-expanded'), here().innerText, document.activeElement === t]")
    counts = [int(w) for w in told[2].replace(",", "").split() if w.isdigit()]
    ok(told[0] == 1 and told[1] == "false" and sum(counts) == len(whole) - 1 and 0 < counts[0] < len(whole) and f" {max(speeds):g}x: " in told[2].split("best")[-1] and told[3],
       "a folded row says how many versions it hides and the best of them", [told, whole])
    shot("folded")
    ok(until("location.hash.includes('fold=0')"), "what is folded is in the address", js("return location.hash"))
    js("location.reload()")
    ok(until("document.querySelectorAll('.row').length === 1 && document.querySelector('.row .fold').getAttribute('aria-expanded') === 'false'"), "and stays folded", text())
    # chosen elsewhere: in the chart, then by its address
    js("for (let i = 0; i < 4; i++) document.querySelector('.way-up').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))")
    ok(js("return document.querySelector('.row.is-here')?.getAttribute('aria-level')") not in (None, "1") and until("!location.hash.includes('fold=') && location.hash.includes('step=')"),
       "a version that is chosen in the chart unfolds what hides it", js("return location.hash"))
    b.go(base + "/#/machine")
    b.go(at + "?step=4&fold=0")
    ok(until("document.querySelector('.row.is-here') && document.querySelectorAll('.row').length > 3"), "and so does a version's address", text())
    ok(js("const t = document.querySelector('.tree'); return t.tabIndex === 0 && t.querySelectorAll('button').length > 0 && [...t.querySelectorAll('*')].every((e) => e.tabIndex < 0)"), "with its buttons the tree is one stop of the Tab key")
    ok(js(KEY + "key('Home'); key('ArrowRight'); const child = here().getAttribute('aria-level'); for (let i = 0; i < 99 && here().getAttribute('aria-expanded') !== null; i++) key('ArrowDown');"
          "const at = Number(here().getAttribute('aria-level')); key('ArrowLeft'); return child === '2' && Number(here().getAttribute('aria-level')) === at - 1"),
       "right goes to the first version below, left to the one above", text())
    js("document.querySelectorAll('.row')[2].click(); document.querySelector('.row .fold').click()")
    ok(js("return document.querySelectorAll('.row').length === 1 && document.querySelector('.row.is-here') !== null"), "a fold takes the place of a chosen version that it hides", text())
    js("const f = document.querySelector('.row .fold'); f.focus(); f.click()")
    ok(js("return document.querySelectorAll('.row').length") > 3 and js("return document.activeElement.className") == "tree", "its button unfolds, the tree has the keys", text())


# What reports of two CUDA versions have, and what a compiler answers: the fake executor has no compiler.
BUILT = """const parse = JSON.parse; JSON.parse = (text) => {
    const o = parse(text), is_second = o && o.commit === '%s';
    if (o && o.report && o.report.build) Object.assign(o.report.build, is_second
        ? {kernels: [{name: 'same', registers: 16}, {name: 'tile<img src=x onerror=window.hacked=1>', registers: 32, spill_store_bytes: 8}], plans: ['smoke: tile <<<4, 128>>>\\ntile <<<4, 64>>>']}
        : {kernels: [{name: 'same', registers: 16}, {name: 'tile<img src=x onerror=window.hacked=1>', registers: 40}], plans: ['smoke: tile <<<8, 128>>>']});
    if (o && o.looks && o.commit) o.profile = {counters: [{name: 'launch__occupancy_percent', value: is_second ? 75 : 50, unit: '%%'}],
        remarks: [{kind: 'vectorized', message: 'loop vectorized', line: is_second ? 9 : 7}, ...(is_second ? [{kind: 'missed', message: 'no vectype', line: 3}] : [])]};
    if (o && o.summary && o.verdict === 'built') Object.assign(o, {assembly: 'tile:\\n// line 3\\n  FFMA R1, R2;\\n  EXIT;', assembly_of: 'tile', assembly_note: 'There is same, too.'});
    return o; }"""


def check_built(b, ok, press, shot, base, search):
    """What the compiler made of two versions, and the machine code of one."""
    js, until, text = b.js, b.until, b.text
    b.size(1200, 900)
    b.go(base + "/#/machine")
    b.go(base + "/#/search/" + search)
    until("document.querySelectorAll('main a[href*=\"/version/\"]').length > 2")
    first, second = js("return [...new Set([...document.querySelectorAll('main a[href*=\"/version/\"]')].map((a) => a.href.split('/version/')[1]))]")[:2]
    b.go(base + "/#/search/" + search + "/version/" + second)
    until("[...document.querySelectorAll('button')].some((b) => b.textContent === 'show machine code')")
    press("show machine code")
    ok(until("document.querySelector('.code-of [role=status]').textContent.startsWith('There is no machine code: ')") and js("return document.querySelectorAll('.source').length") == 1,
       "that there is no machine code is said", text())
    js(BUILT % second)
    press("show machine code")
    ok(until("document.querySelectorAll('.source').length === 2") and js(f"return {SOURCE}.textContent.includes('FFMA R1') && [...{SOURCE}.querySelectorAll('.cm-lineNumbers .cm-gutterElement')].some((e) => e.textContent === '4')")
       and "tile. There is same, too." in text(), "machine code is shown with its lines", text())
    js("document.querySelector('.code-of').scrollIntoView()")
    shot("machine-code")
    b.go(base + "/#/compare/" + search + "/" + first + "/" + second)
    until("document.querySelector('.built')")
    rows = js("return [...document.querySelectorAll('.built tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")
    name = "tile<img src=x onerror=window.hacked=1>"
    wanted = [[name + ": registers a thread", "40", "32", "\u25bc 8 less, 0.8x"], [name + ": spilled: written a thread", "0 bytes", "8 bytes", "\u25b2 8 bytes more"],
              ["launches, smoke", "1", "2", "\u25b2 1 more, 2x"], ["plan, smoke", "tile <<<8, 128>>>", "tile <<<4, 128>>>\ntile <<<4, 64>>>", "\u2260 another"],
              ["occupancy allowed", "50 %", "75 %", "\u25b2 25 points more, 1.5x"], ["remarks on the hot loop: missed", "none", "no vectype, line 3", "\u2260 another"],
              ["remarks on the hot loop: vectorized", "loop vectorized, line 7", "loop vectorized, line 9", ""], ["same: registers a thread", "16", "16", ""], ["object", "4,096 bytes", "4,096 bytes", ""]]
    ok(all(w in rows for w in wanted) and len(rows) == len(wanted) + 1 and not js("return window.hacked"), "what the compiler made of two versions stands side by side", rows)
    signs = [row[3] != "" for row in rows]
    ok(signs == sorted(signs, reverse=True) and 0 < sum(signs) < len(signs), "what changed stands first, with a sign", rows)
    ok(js("return [...document.querySelectorAll('.built b')].map((e) => getComputedStyle(e).color).every((c) => c !== getComputedStyle(document.body).color) && document.querySelectorAll('.built b.bad').length") == 1,
       "and in a colour: more spills are worse", rows)
    js("document.querySelector('.built').previousElementSibling.scrollIntoView()")
    shot("built")
    js("location.reload()")
    until("document.querySelector('.built')")


def check_archive(b, ok, downloads, search):
    """After an export: one archive with the same files."""
    name = b.js("return document.querySelector('.files .archive a').download")
    b.js("document.querySelector('.files .archive a').click()")
    landed = os.path.join(downloads, name)
    wait_for(landed)
    names = b.js("return [...document.querySelectorAll('.files li:not(.archive) a')].map((a) => a.download)")
    with zipfile.ZipFile(landed) as z, open(os.path.join(downloads, names[0])) as f:
        inside, one = z.namelist(), z.read(name[:-4] + "/" + names[0]).decode()
        ok(len(names) > 1 and inside == [name[:-4] + "/" + n for n in names] and name.startswith(search + "-") and one == f.read() and z.testzip() is None,
           "all files of an export in one archive", inside)


def night(file, search):
    """A copy of the file's data in which a confirmed version has everything that a real night had."""
    data, head, tail = unpacked(file)
    steps = data["report"]["steps"]
    own = next(s for s in reversed(steps) if s.get("commit") in data["measured"] and s["kind"] != "confirm" and s["parent"] >= 0)
    before = next(s for s in steps if s["node"] == own["parent"] and s.get("commit"))
    won, old = own["commit"], before["commit"]
    m = data["measured"][won]
    one = m["workloads"][0]

    def size(name, ns, share, axes):
        bytes_ns, rate = ns * share / 100, 3084 if share > 20 else 9000  # of memory, of a cache
        return dict(copy.deepcopy(one), id=name, axes=axes, percent_of_bound=share, bytes_ns=bytes_ns, flops_ns=bytes_ns / 4, least_bytes=bytes_ns * rate, least_flops=bytes_ns * 100, times=[{"arm": "candidate", "median_ns": ns}, {"arm": "baseline", "median_ns": 1000}],
                    ratios=[{"against": "baseline", "ratio": 1000 / ns, "low": 900 / ns, "high": 1100 / ns}])
    few = [size("a1", 100, 80, {"M": 8, "N": 16}), size("a2", 100, 80, {"M": 9, "N": 16})]
    looks = [{"tier": "screen", "verdict": "screened", "ratio": 10, "low": 9, "high": 11, "percent_of_bound": 80, "sizes": ["a1", "a2"]},
             {"tier": "confirm", "verdict": "faster", "ratio": 5.5, "low": 5, "high": 6, "percent_of_bound": 40, "sizes": ["a1", "a2", "hidden-00"]}]
    m.update({"tier": "confirm", "percent_of_bound": 40, "looks": looks, "time_s": 1795529415, "machine": {"cpu": "NVIDIA H100 80GB HBM3", "n_cores": 16, "copy_bytes_per_s": 3083752261097.0283, "peak_flops_per_s": 57699480470690.734, "flops_unit": "TF32 tensor cores"},
              "warnings": ["the mean ratio stands on unlike baselines", "workload 'a1': little time was left, 2 s"],
              "rests_text": "error rms 0.1, worst 0.2 of tolerance, 3 sizes (3 timed, 1 drawn), jail userns, load 1.0 of 16 cores",
              "workloads": few + [size("hidden-00", 500, 10, {"M": 511, "N": 577})]})
    data["measured"][old] = dict(copy.deepcopy(m), tier="screen", percent_of_bound=80, workloads=copy.deepcopy(few), looks=looks[:1], warnings=[])
    m["workloads"][0]["bound_by"], m["workloads"][1]["bound_by"], m["workloads"][2]["bound_by"] = "bytes", "flops", "bytes"
    m["profile"] = {"bottlenecks": [{"class_name": "latency_ilp", "line": 3, "score": 1, "rule": LATENCY}]}
    for s in steps:
        if s.get("commit") == won:
            s["rule"] = "excess_traffic: the same data is moved several times (copies=0 passes=3)"
    end = data["report"].setdefault("end", {})
    end.pop("doubt", None)
    end.update({"verdict": "faster", "speedup": 5.5, "ci": [5, 6], "best_commit": won, "percent_of_bound": 40, "yardsticks": [], "rests_on": "error rms 0.1, worst 0.2 of tolerance, 3 sizes (3 timed, 1 drawn), jail userns, lo..."})
    data["searches"] = [dict(data["searches"][0], end=end, machine="NVIDIA H100 80GB HBM3")]
    lines = ["int line_%d = %s;" % (i, "+".join(str(k) for k in range(60))) for i in range(90)]
    data["sources"][old] = "\n".join(lines)
    data["sources"][won] = "\n".join(lines[:62] + ["float changed;"] + lines[63:])
    return data, head, tail, won, old


def check_file(b, ok, file, search):
    js, until, text = b.js, b.until, b.text
    data, head, tail, won, old = night(file, search)
    at = packed(file + ".night.html", data, head, tail)
    b.size(1280, 900)
    b.go(at + "#/")
    ok(until("document.querySelector('td details summary')") and "1 warning" in text(), "a warning stands by the figure of the overview", text())
    ok("NVIDIA H100" in text() and "USD" not in text(), "a row says what it was measured on; no empty columns of cost", text())
    b.go(at + "#/machine")
    ok(until("document.body.innerText.includes('Machines measured')") and "NVIDIA H100 80GB HBM3" in text() and "3.08 TB/s" in text() and "57.7 Top/s" in text() and "TF32 tensor cores" in text()
       and js("return document.querySelector('.cards td a').textContent") == search, "a device that this server does not have is told with its searches and rates", text())
    b.go(at + "#/search/" + search)
    ok(until("document.querySelector('.warning')") and "Mind: the mean ratio" in text() and "Little time was left for 1 size" in text(), "warnings stand by the headline", text())
    ok("over 3 sizes: a1 (M 8, N 16), a2 (M 9, N 16)" in text() and "the search never saw them: hidden-00 (M 511, N 577)" in text() and "short looks timed 2 sizes" in text(),
       "the headline says which sizes it stands on, and of which shapes", text())
    ok("load 1.0 of 16 cores" in text() and "lo..." not in text(), "what it rests on is whole", text())
    js("document.querySelector('.rests').open = true")
    ok("drawn: made up for the confirmation" in text() and "how the candidate was shut off" in text(), "and says what its words mean", text())
    ok(until("document.querySelector('.ends').innerText.includes('short looks of 2 sizes')") and "5.5x [5, 6], is the confirmation of " + won[:10] + ": fresh data over 3 sizes, 1 of them drawn" in text(),
       "below the way up: which sizes its end and the confirmed figure stand on", text())
    ok("of the nearest bound, what moving data at 2 sizes and arithmetic (TF32 tensor cores) at 1 size allow" in text() and "something else limits" not in text(), "the share of the bound says which arithmetic", text())
    ok("copies in loops: 0, passes over the same data: 3" in text() and "passes=3" not in text(), "a step's reason has plain words for its counters", text())
    ok("40.0 %, by size from 10.0 % to 80.0 %" in text() and "measured on NVIDIA H100" in text(), "the share of the bound has a range, the search a machine", text())
    ok(js("return document.querySelector('.path tbody').rows.length") > 0 and "Why it is faster" in text(), "the steps to the best version, with what each brought", text())
    js("document.querySelectorAll('.row')[1].click(); document.querySelector('[aria-live] details').open = true")
    ok(until("document.querySelector('[aria-live] details').innerText.includes('gain hoped for')") and "pays" not in text() and "screened" not in text(), "plain words for what was chosen among", text())
    b.go(at + "#/search/" + search + "/version/" + won)
    ok(until("document.body.innerText.includes('sizes that it timed')") and "2 sizes: a1, a2" in text() and "3 sizes: a1, a2, hidden-00" in text(),
       "each figure of a version with its sizes", text())
    ok("hidden-00 (M 511, N 577), drawn" in text(), "a drawn size has its shape", text())
    ok("TF32 tensor cores" in js("return document.querySelector('.roofline').textContent"), "the roofline names its arithmetic", text())
    told = js("return [...document.querySelectorAll('main table')].filter((t) => t.innerText.includes('the bound that is nearest')).map((t) => t.innerText)")
    ok(len(told) == 2 and "limited by" not in text() and told[0].count("far below it: something else limits") == 1 and told[1].count("moving data: 3080 GB/s from memory") == 2 and told[1].count("far below it: something else limits") == 1
       and "moving data: 9000 GB/s from the cache (memory: 3080 GB/s)" in told[1],
       "the nearest bound is not called what limits where it is far", told)
    ok("latency_ilp: warps wait (91.2 % of warps' time waiting for memory, warps ready to issue, a cycle: 0.604)" in text(), "a bottleneck has plain words for its counters", text())
    b.go(at + "#/compare/" + search + "/" + old + "/" + won)
    until(SOURCE + ".querySelector('.cm-changedLine')")
    rows = js("return [...document.querySelectorAll('tr')].map((r) => [...r.cells].map((c) => c.innerText))")
    ok(["over the baseline, the 2 sizes of both", "10x", "10x", "1x, within noise"] in rows and ["share of the bound, the 2 sizes of both", "80.0 %", "80.0 %", "1x, within noise"] in rows
       and ["stands on", "short look, 2 sizes", "confirmation, 3 sizes"] in rows, "two versions are compared over the sizes of both", rows)
    ok(js(f"const s = {SOURCE}, c = s.querySelector('.cm-changedLine').getBoundingClientRect(), h = s.host.getBoundingClientRect();"
          "return c.top >= h.top && c.bottom <= h.bottom && [...s.querySelectorAll('.cm-scroller')].every((e) => e.scrollWidth <= e.clientWidth + 1)"),
       "a change far down stands at the top, long lines are not cut")
    ok(js(f"const f = {SOURCE}.querySelector('.cm-collapsedLines'); return getComputedStyle(f, ':before').content + f.textContent") == '"..."59 unchanged lines', "folded lines say so in plain signs")
    b.size(360, 800)
    b.go(at + "#/")
    b.go(at + "#/compare/" + search + "/" + old + "/" + won)
    ok(until(SOURCE + ".querySelectorAll('.cm-content').length === 1"), "one text below the other where two have no room", text())
    ok(js("return document.documentElement.scrollWidth <= innerWidth + 1"), "and the page stays within 360 pixels", js("return document.documentElement.scrollWidth"))
    check_marks(b, ok, file, search)
    check_afresh(b, ok, file, search)
    check_later(b, ok, file, search)
    check_unconfirmed(b, ok, file, search)


def check_marks(b, ok, file, search):
    """Marks and words of what a stranger took for something else."""
    data, head, tail, won, old = night(file, search)
    steps, end = data["report"]["steps"], data["report"]["end"]
    own = next(s for s in steps if s.get("commit") == won)
    base = {"step": 900, "parent": 0, "kind": "expand", "is_gain": False, "evaluations": 99, "elapsed_ms": 99000, "strategy": "C08", "verdict": "screened", "expected_log2": 0.1}
    noisy = dict(base, node=9001, value_log2=1, ratio=2, ratio_low=0.5, ratio_high=8, words="a noisy step")
    steps += [noisy, dict(noisy, kind="sweep"), dict(base, node=9002, value_log2=0.001, ratio=1, ratio_low=0.99, ratio_high=1.01, words="a flat step"),
              dict(base, node=own["node"], value_log2=own["value_log2"], ratio=4, words="known code", note="the same machine code as a version that is known"),
              dict(base, node=-1, words="a known text", note="the same text as a version that is known", verdict=""), dict(base, node=-1, words="a wrong one", verdict="incorrect"),
              dict(own, kind="confirm", ratio=5.5, ratio_low=5, ratio_high=6, verdict="faster")]
    data["report"]["spent"]["wall_ms"], data["report"]["budgets"]["budget_wall_ms"] = 143278, 150000
    end.update({"why_stopped": "budget_wall"})
    b.go(packed(file + ".wall.html", data, head, tail) + "#/search/" + search)
    ok(b.until("document.body.innerText.includes('143 s of 150 s used')") and "had no room for another step (6.72 s)" in b.text() and "143 s of 150 s" in b.js("return [...document.querySelectorAll('.facts')].at(-1).innerText"),
       "what was used and its cap are told to the second", b.text())
    end.update({"why_stopped": "plateau", "doubt": "others used 1.7 of 16 cores, and the arms need different numbers of them"})
    at = packed(file + ".marks.html", data, head, tail)
    b.size(1280, 900)
    b.go(at + "#/search/" + search)
    b.until("document.querySelector('.unseen')")
    text = b.text()
    ok("5.5x the baseline on average, 2x to 10x by size" in text, "the headline has its range by size", text)
    ok("no further step promised a gain on the sizes that it timed (a1, a2)" in text and "Worst size: hidden-00 (M 511, N 577) at 10.0 %" in text, "the end says on which sizes, and which is worst", text)
    ok("use different numbers of cores" in text and "the arms" not in text and "confirm it afresh by" in text and "hone search " + search in text, "a doubt in plain words, with the command", text)
    rows = {}
    for down in (0, 200, 400, 600, 800, 1000, 1200, 1400):
        b.js("const t = document.querySelector('.tree'); t.scrollTop = %d; t.dispatchEvent(new Event('scroll'))" % down)
        rows.update(b.js("return Object.fromEntries([...document.querySelectorAll('.row')].map((r) => [r.dataset.step, [r.innerText, r.querySelector('.bad') !== null]]))"))
    told = list(rows.values())

    def row(sign, words):
        of = [is_bad for line, is_bad in told if words in line]
        return len(of) == 1 and any(line.startswith(sign) and words in line for line, _ in told)
    ok(row("\u25d0", "a noisy step, measured 2 times") and row("\u25cb", "a flat step"), "too noisy to tell and no gain have marks of their own; a version has one row", told)
    ok(row("=", "a known text") and not next(bad for line, bad in told if "a known text" in line) and row("\u2715", "a wrong one"), "a duplicate is no wrong result", told)
    ok(any(line.startswith("\u2298") and "5.5x" in line for line, _ in told), "what may not be claimed has the barred mark", told)
    b.go(at + "#/search/" + search + "?step=" + str(len(steps) - 7))
    ok(b.until("document.querySelector('[aria-live].panel').innerText.includes(\"2x [0.5, 8] its parent's speed, not shown (noise)\")"), "a step says its interval over its parent", b.text())
    ok("Overrated" in b.text() and "Underrated" in b.text() and "of 1: weak" in b.text(), "overrated and underrated apart, a single try is weak", b.text())
    # the two tables of strategies count alike: gains and mean of each
    here = dict(b.js("return [...document.querySelectorAll('main table')].filter((t) => t.innerText.includes('came out over')).flatMap((t) => [...t.tBodies[0].rows]).map((r) => [r.cells[0].innerText, r.cells[3].innerText + ', gains ' + r.cells[1].innerText])"))
    b.go(at + "#/searches/" + search + "/" + search)
    b.until("document.body.innerText.includes('What paid')")
    there = b.js("return [...[...document.querySelectorAll('main table')].at(-1).tBodies[0].rows].map((r) => [r.cells[0].innerText, r.cells[1].innerText])")
    ok(here and dict(there) == here and "Counted:" in b.text(), "what paid and what came out are counted alike", [here, there])
    b.go(at + "#/compare/" + search + "/" + old + "/" + won)
    ok(b.until("document.querySelector('#path a')") and b.js("return document.querySelector('#path a').getAttribute('href')") == "#/search/" + search, "a comparison has a way back", b.text())


def check_afresh(b, ok, file, search):
    """A confirmation that shows nothing has one mark and one word in every view."""
    data, head, tail, won, _ = night(file, search)
    steps, end = data["report"]["steps"], data["report"]["end"]
    steps[:] = [s for s in steps if s["kind"] != "confirm"]
    own = next(s for s in steps if s.get("commit") == won)
    own.update({"value_log2": 3, "ratio": 8, "ratio_low": 4, "ratio_high": 16})
    steps += [dict(own, kind="decide", is_gain=True, value_log2=5, ratio=32, ratio_low=4, ratio_high=40, evaluations=97),
              dict(own, kind="sweep", is_gain=False, value_log2=5, ratio=16, ratio_low=4, ratio_high=40, evaluations=98)]
    steps.append(dict(own, kind="confirm", ratio=5.5, ratio_low=0.9, ratio_high=6, verdict="inconclusive", evaluations=99))
    end.update({"verdict": "inconclusive", "ci": [0.9, 6], "doubt": "the machine was busy while it was..."})
    data["measured"][won]["doubts"] = ["others used the cores", "the machine was busy while it was timed; measure again", "the time was up"]
    one = data["measured"][won]["workloads"][0]
    one["ratios"] = [{"against": "baseline", "ratio": 0.5, "low": 0.4, "high": 0.9}]
    words = "measured afresh, inconclusive"
    b.size(1280, 900)
    b.go(packed(file + ".afresh.html", data, head, tail))
    b.until("document.querySelector('.counts')")
    whole = "the machine was busy while it was timed; measure again; and 2 more"
    b.until("document.querySelector('[data-head=verdict] a')")
    ok(whole in b.js("return document.querySelector('[data-head=verdict]').innerText"), "the overview has a reason whole, and how many more there are", b.text())
    seen = [b.js("return document.querySelector('[data-head=verdict]').innerText")]
    b.go("file://" + file + ".afresh.html#/search/" + search + "?step=" + str(len(steps) - 1))
    b.until("document.querySelector('[aria-live].panel dd')")
    seen += b.js("return [document.querySelector('.result').innerText, document.querySelector('[aria-live].panel').innerText,"
                 "[...document.querySelectorAll('h2')].find((e) => e.textContent === 'Latest').nextElementSibling.querySelector('tbody tr').innerText]")
    ok(all("\u25c7" in x and words in x and "\u2298" not in x for x in seen) and "0 results may be claimed, 1 inconclusive" in b.js("location.hash = '#/'; return ''") + (b.until("document.querySelector('.counts')") and b.text() or ""),
       "an inconclusive confirmation has one mark and one word everywhere", seen)
    b.go("file://" + file + ".afresh.html#/search/" + search)
    b.until("document.querySelectorAll('.row').length > 3")
    ok(b.until("[...document.querySelectorAll('.panel > .bad')].some((e) => e.innerText === 'slower at a1 (0.5x [0.4, 0.9])')") and "The steps to it" in b.text() and "Why it is faster" not in b.text(),
       "a loss at one size is called one, and nothing explains a gain that is not shown", b.text())
    ok(b.until("[...document.querySelectorAll('.panel > p.bad a')].some((a) => a.textContent === 'and 2 more')") and whole in b.text(), "so has the search", b.text())
    inks = b.js("const of = {}; for (const e of document.querySelectorAll('.sign')) (of[e.textContent] ||= new Set()).add(getComputedStyle(e).color);"
                "return Object.entries(of).map(([sign, inks]) => [sign, inks.size, [...document.querySelectorAll('.sign')].filter((e) => e.textContent === sign).length])")
    ok(len(inks) == 8 and all(n == 1 for _, n, _ in inks) and max(seen for _, _, seen in inks) > 3, "a sign has one colour in legend, tree, panel and lists", inks)
    ok("It ends at 32x, a longer look." in b.js("return document.querySelector('.ends').innerText") and "short looks of 2 sizes, or by a longer look" in b.text(), "the line says what it is of", b.text())
    place = "return getComputedStyle(document.querySelector('.ring.chosen')).transform"
    b.js("document.querySelector('.way-up').focus()")
    at = []
    for i in (3, 2):  # the longer look, then a sweep of the same version: each where it measured
        b.go("file://" + file + ".afresh.html#/")
        b.go("file://" + file + ".afresh.html#/search/" + search + "?step=" + str(len(steps) - i))
        b.until("document.querySelector('[aria-live].panel dd')")
        at.append([b.js(place).split(",")[-1], b.js("return document.querySelector('[aria-live].panel').innerText")])
    ok(at[0][0] != at[1][0] and "32x the baseline's in this longer look" in at[0][1] and "16x the baseline's in this short look" in at[1][1] and all("32x the baseline, by its longer look" in x[1] for x in at),
       "a dot stands where its own evaluation measured, and its panel says that figure", at)
    ok("bear that out" not in b.text() and "not borne out" not in b.text(), "fresh data within the short look's interval bore it out", b.text())
    b.js("[...document.querySelectorAll('.panel > p.bad a')].find((a) => a.textContent === 'and 2 more').click()")
    ok(b.until("document.querySelector('.reasons')") and b.js("return document.querySelector('.reasons').getBoundingClientRect().top < 300 && document.querySelectorAll('.reasons li').length") == 3, "a click shows all of them", b.text())
    b.go("file://" + file + ".afresh.html#/searches/" + search + "/" + search)
    ok(b.until("document.body.innerText.includes('What paid')") and b.text().count(whole) == 2, "and so have two searches side by side", b.text())
    b.go("file://" + file + ".afresh.html#/search/" + search)
    b.until("document.querySelector('.picks')")
    b.js("document.querySelectorAll('.picks tbody tr')[5].cells[2].click()")
    ok(b.until("location.hash.includes('step=%d')" % (len(steps) - 6)), "a row of what came last is chosen beside its words, too", b.js("return location.hash"))
    own.update({"ratio_low": 7})
    b.go(packed(file + ".below.html", data, head, tail) + "#/search/" + search)
    ok(b.until("document.body.innerText.includes('fresh data did not bear that out')"), "and below of it did not", b.text())


def check_later(b, ok, file, search):
    """What was found wrong after its search, what was not checked, and the next best."""
    data, head, tail, won, old = night(file, search)
    steps, m = data["report"]["steps"], data["measured"][won]
    own, before = (next(s for s in steps if s.get("commit") == c) for c in (won, old))
    wrong = "found wrong: out_of_bounds, see evaluation <img src=x>; it was faster in another one"
    steps += [dict(before, kind="confirm", ratio=3.3, ratio_low=3, ratio_high=3.6, verdict="faster"),
              dict(own, kind="confirm", ratio=5.5, ratio_low=5, ratio_high=6, verdict="faster", barred=wrong)]
    data["searches"][0].update({"refutation": wrong, "runners_up": [{"commit": old, "ratio": 3.3}]})
    m.update({"refutation": wrong, "contents": {"compared": ["normal", "near_limits"], "left_out": [{"kind": "nan", "reason": "the task does not cover it"}]}})
    at = packed(file + ".later.html", data, head, tail)
    b.size(1280, 900)
    b.go(at + "#/")
    ok(b.until("document.querySelector('.counts')") and "0 results may be claimed, 1 may not" in b.text() and "not to be claimed: " + wrong in b.text(), "a result that was found wrong later is not counted as one", b.text())
    ok(b.js("return document.querySelector('td a[title=\"confirmed, too\"]').textContent") == "3.3x", "the next best of a search", b.text())
    b.go(at + "#/search/" + search)
    b.until("document.querySelector('.runners')")
    ok("not to be claimed" in b.js("return document.querySelector('.result').innerText") and "Not to be claimed: " + wrong in b.text(), "its search says so, and why", b.text())
    ok(b.js("return document.querySelector('.runners tbody').innerText").startswith("3.3x [3, 3.6]") and b.js("return document.querySelector('.runners tbody').rows.length") == 1,
       "the runners-up are the others that were confirmed", b.text())
    ok(any(line.startswith("\u2298") for line in b.js("return [...document.querySelectorAll('.row')].map((r) => r.innerText)")), "and the barred mark", b.text())
    b.go(at + "#/search/" + search + "/version/" + won)
    ok(b.until("document.querySelector('.checked')") and "nan: the task does not cover it" in b.text() and "Checked with 2 kinds" in b.text(), "a version names the contents that were left out", b.text())
    ok("Why it may not be claimed" in b.text() and wrong in b.text(), "and that it was found wrong", b.text())


def check_unconfirmed(b, ok, file, search):
    data, head, tail, _, _ = night(file, search)
    end = data["report"]["end"]
    for name in ("speedup", "best_commit", "rests_on", "percent_of_bound"):
        end.pop(name, None)
    end.update({"verdict": "", "ci": [], "unconfirmed": "a confirmation takes about 26 s here, 12 s were left; --budget-wall 90s has room"})
    data["report"]["steps"] = [s for s in data["report"]["steps"] if s["kind"] != "confirm"]
    at = packed(file + ".open.html", data, head, tail)
    b.size(1200, 900)
    b.go(at + "#/search/" + search)
    b.until("document.querySelectorAll('.row').length > 3")
    text = b.text()
    ok("Nothing was confirmed" in text and "12 s were left" in text and not b.js("return document.querySelector('.result.good')"), "an unconfirmed search says so, and why", text)
    ok(b.js("return [...document.querySelectorAll('.facts dd')].some((d) => d.querySelector('a') && d.innerText.includes('unconfirmed'))")
       and "hone search " + search in text and "--budget-wall 90s" in text and "hone export" not in text, "it names its best version and the command that would confirm it", text)
    ok(b.js("return document.querySelector('.path a') !== null"), "and the steps to it", text)
