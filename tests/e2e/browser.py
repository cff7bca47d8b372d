# SPDX-License-Identifier: Apache-2.0
"""Chromium over WebDriver, with the standard library alone: what page_browser.py and tests/page/shots.py share.

    with Browser(downloads) as b:
        b.go(url); b.until("document.querySelector('tr')"); b.shot(path)"""
import base64
import json
import socket
import subprocess
import time
import urllib.request

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]


WAIT_S = 180  # at most, for what comes within a second where no other program has the processor


class Browser:
    def __init__(self, downloads="/nonexistent"):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}", "--silent"], stdout=subprocess.DEVNULL)
        self.session = None
        self.downloads = downloads

    def __enter__(self):
        for _ in range(10 * WAIT_S):
            try:
                self.call("/status")
                break
            except OSError:
                time.sleep(0.1)
        self.session = self.call("/session", {"capabilities": {"alwaysMatch": {
            "timeouts": {"script": 3000 * WAIT_S, "pageLoad": 1000 * WAIT_S},
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"prefs": {"download.default_directory": self.downloads, "profile.default_content_setting_values.automatic_downloads": 1}, "args": FLAGS}}}})["sessionId"]
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self.call(f"/session/{self.session}", method="DELETE")
        finally:
            self.driver.terminate()

    def call(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"},
                                         method=method or ("POST" if body is not None else "GET"))
        return json.load(urllib.request.urlopen(request, timeout=4 * WAIT_S))["value"]

    def of_session(self, path, body=None):
        return self.call(f"/session/{self.session}/{path}", body)

    def js(self, script):
        return self.of_session("execute/sync", {"script": script, "args": []})

    def go(self, where):
        self.of_session("url", {"url": where})

    def until(self, script, seconds=WAIT_S):
        end = time.time() + seconds
        while time.time() < end:
            # What is not there yet has no members: an error of the script is "not yet".
            value = self.js("try { return " + script + "; } catch (e) { return null; }")
            if value:
                return value
            time.sleep(0.1)
        return None

    def text(self):
        return self.js("return document.body.innerText")

    def size(self, width, height):
        """Of what is seen, whatever the window's frame takes."""
        self.of_session("goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride",
                                             "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def media(self, scheme):
        self.of_session("goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia",
                                             "params": {"features": [{"name": "prefers-color-scheme", "value": scheme}]}})

    def shot(self, path):
        """PNG, or small: WebP."""
        how = {"format": "webp", "quality": 55} if path.endswith(".webp") else {"format": "png"}
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.of_session("goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": how})["data"]))
