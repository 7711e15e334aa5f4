#!/usr/bin/env python3
"""Presses every button of the page of `dao browse --write` in headless Chromium. `make browse-test` runs it on a database of books.

   Scripts/browse-test.py ADDRESS PROCESS DAO URL DIRECTORY

ADDRESS is what `dao browse` has written, PROCESS its number, DAO the program, URL its database, DIRECTORY gets the screenshots.
Needs Chromium and its driver (`Scripts/setup.sh --browser`), and nothing else: a driver is asked by HTTP.
"""
import base64, json, os, re, signal, subprocess, sys, time, urllib.error, urllib.request

ADDRESS, PROCESS, DAO, URL, DIRECTORY = sys.argv[1:]
DEADLINE = 15
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Shift": "\ue008", "Control": "\ue009"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

# Remembers which buttons there were, and which were pressed.
WATCH = """
const name = e => e.id || e.tagName === 'SUMMARY' && 'fields' || e.getAttribute('aria-label')?.replace(/^Edit .*/, 'Edit') || e.title && 'sort or insert' || e.textContent.trim();
window.seen = new Set(); window.pressed = new Set();
const look = () => document.querySelectorAll('button, select, summary, input[type=checkbox]').forEach(e => window.seen.add(name(e)));
new MutationObserver(look).observe(document.body, { childList: true, subtree: true }); look();
for (const kind of ['click', 'change']) document.addEventListener(kind, event => {
  const e = event.target.closest('button, select, summary, input[type=checkbox]');
  if (e) window.pressed.add(name(e));
}, true);
"""


class Browser:
    """A window of Chromium, by the WebDriver protocol."""

    def __init__(self, width, height, dark=False, phone=False):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = next(line.rsplit(" ", 1)[1].strip(" .\n") for line in self.driver.stdout if "successfully on port" in line)
        self.base = f"http://127.0.0.1:{port}/session"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={width},{height}"]}
        if phone:
            options["mobileEmulation"] = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2.0}}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.base += "/" + self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": [scheme]}})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.kill()

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"].split("\n")[0]) from None

    def open(self, fragment=""):
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": ADDRESS + fragment})
        self.run(WATCH)

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, place):
        """The element of a CSS selector, or of a selector and a text: `button=Save`."""
        selector, text = place.rsplit("=", 1) if re.fullmatch(r"[a-z ]+=[^\]]*", place) else (place, "")
        script = "return [...document.querySelectorAll(arguments[0])].find(e => e.checkVisibility() && (!arguments[1] || e.textContent.trim() === arguments[1]))"
        return until(lambda: self.run(script, selector, text), f"there is no {place}")

    def click(self, place, shift=False):
        if not shift:
            return until(lambda: self.clicks(place), f"{place} is replaced all the time")
        element = self.find(place)[ELEMENT]
        move = {"type": "pointerMove", "origin": {ELEMENT: element}, "x": 0, "y": 0}
        mouse = [move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        keys = [{"type": "keyDown", "value": KEYS["Shift"]}, {"type": "pause"}, {"type": "pause"}, {"type": "pause"}, {"type": "keyUp", "value": KEYS["Shift"]}]
        self.call("POST", "/actions", {"actions": [
            {"type": "key", "id": "keys", "actions": keys}, {"type": "pointer", "id": "mouse", "actions": [{"type": "pause"}] + mouse}]})

    def clicks(self, place):
        """Clicks; false when the page has replaced the element meanwhile."""
        try:
            self.call("POST", f"/element/{self.find(place)[ELEMENT]}/click")
            return True
        except AssertionError as error:
            if "stale element" not in str(error):
                raise
            return False

    def press(self, *keys):
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def type(self, place, text):
        element = self.find(place)[ELEMENT]
        self.call("POST", f"/element/{element}/clear")
        if text:
            self.call("POST", f"/element/{element}/value", {"text": text})

    def text(self, selector="#main"):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText).join(' | ')", selector)

    def shows(self, text, selector="#main"):
        until(lambda: text in self.text(selector), lambda: f"there is no '{text}' in {selector}: {self.text(selector)[:400]}")

    def column(self, number=0):
        return self.run("return [...document.querySelectorAll('#main tbody tr')].map(r => r.cells[arguments[0]]?.innerText)", number)

    def has_column(self, values, number=0):
        until(lambda: self.column(number) == values, lambda: f"{self.column(number)} instead of {values}")

    def shot(self, name):
        time.sleep(0.4)
        mistake = re.search(r"false|undefined|null|NaN|\[object.*", self.text("body"))
        assert not mistake or name == "failed", f"'{mistake.group()}' is shown"
        with open(os.path.join(DIRECTORY, f"{name}.png"), "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def complaints(self):
        """What the console says, but for answers that are errors."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})
                if "the server responded with a status of" not in entry["message"]]


def until(condition, complaint):
    end = time.monotonic() + DEADLINE
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(complaint() if callable(complaint) else complaint)
        time.sleep(0.05)


def store(entity, *rows):
    """Stores rows as another program does."""
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    subprocess.run([DAO, "import", URL, entity, "-"], input=lines, text=True, check=True, timeout=60, stdout=subprocess.DEVNULL)


def overview(page):
    page.open()
    for text in ["library.db", "3 entities", "book", "chapter", "writer"]:
        page.shows(text)
    page.shows("writing", "#mode")
    page.shows("live", "#live")
    page.shot("entities")
    page.click("a=book")
    page.shows("Engines")


def sorting(page):
    page.has_column(["1", "2", "3"])
    page.click("th:nth-child(3) button")
    page.has_column(["8", "8", "12.5"], 2)
    page.click("th:nth-child(3) button")
    page.has_column(["12.5", "8", "8"], 2)
    page.click("th:nth-child(2) button", shift=True)
    page.shows("title ↑2", "th")
    page.click("th:nth-child(2) button", shift=True)
    page.has_column(["1", "3", "2"])
    page.click("#clear")
    page.has_column(["1", "2", "3"])


def filtering(page):
    page.type("#where", "writer.name == 'Ada' AND price < 10")
    page.click("#apply")
    page.has_column(["3"])
    page.shows("1 row of 3", "#count")
    page.click("#explain")
    page.shows("Rows are found", "#plan")
    page.shot("explain")
    page.click("#explain")
    until(lambda: page.run("return document.getElementById('plan').hidden"), "the plan stays")
    page.type("#where", "price < 10 AND nmae == 1")
    page.press("Enter")
    page.shows("'book' has no field 'nmae'", "#problem")
    page.shows("nmae", "#problem mark")
    chosen = page.run("const i = document.getElementById('where'); return i.value.slice(i.selectionStart, i.selectionEnd)")
    assert chosen == "nmae", chosen
    page.shot("mistake")
    page.type("#where", "id > 100")
    page.click("#apply")
    page.shows("No row of 'book' meets this condition")
    page.shot("nothing")
    page.click("button=Show all rows")
    page.has_column(["1", "2", "3"])
    page.click("summary")
    page.click("#fields button")
    assert page.run("return document.getElementById('where').value") == "id "


def paging(page):
    page.click("#entities a[data-entity=writer]")
    page.shows("rows 1 to 50")
    page.shows("240 rows", "#count")
    page.click("#next")
    page.shows("rows 51 to 100")
    page.press("n")
    page.shows("rows 101 to 150")
    page.press("p")
    page.shows("rows 51 to 100")
    page.click("#previous")
    page.shows("rows 1 to 50")
    page.click("#next")
    page.shows("rows 51 to 100")
    page.click("#first")
    page.shows("rows 1 to 50")
    page.click("#limit")
    page.run("const s = document.getElementById('limit'); s.value = '100'; s.dispatchEvent(new Event('change', { bubbles: true }))")
    page.shows("rows 1 to 100")
    page.press("Escape")


def relationships(page):
    page.click("#entities a[data-entity=book]")
    page.has_column(["1", "2", "3"])
    page.click("tbody tr:first-child td:nth-child(2)")
    page.shows("book › 1")
    page.shows("Begin")
    page.shows("Ada")
    page.shot("row")
    page.click("tr[data-field=writer] a")
    page.shows("writer › 1")
    page.shows("2 rows", "#referrers")
    page.click("#referrers a")
    page.has_column(["1", "3"])
    assert page.run("return document.getElementById('where').value") == "writer == 1"
    page.click("tbody a=1")
    page.click("a=Open the list")
    page.shows("2 rows of 'chapter', in the order of the list")
    page.press("u")
    page.shows("book › 1")
    page.press("u")
    page.shows("3 rows", "#count")
    page.press("u")
    page.shows("3 entities")


def changes(page):
    page.click("#entities a[data-entity=chapter]")
    page.has_column(["a", "b"])
    store("chapter", {"id": "c", "title": "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"})
    page.has_column(["a", "b", "c"])
    page.shows("<img src=x")
    page.shot("change")
    store("chapter", {"id": "a", "title": "Changed"})
    page.shows("Changed", "td.new")
    page.click("tbody tr:last-child a")
    page.shows("<script>")
    found = page.run("return [document.querySelectorAll('#main img, #main script').length, document.title]")
    assert found[0] == 0 and "taken" not in found[1], found


def keys(page):
    page.open("#rows?entity=book")
    page.has_column(["1", "2", "3"])
    page.press("j", "j", "k", "Enter")
    page.shows("book › 1")
    page.press("u")
    page.has_column(["1", "2", "3"])
    page.press("/")
    until(lambda: page.run("return document.activeElement.id") == "where", "the condition has no focus")
    page.press("Escape", "e")
    page.shows("Rows are found", "#plan")
    page.press("?")
    page.shows("BEGINSWITH", "dialog")
    page.shot("help")
    page.click("#help-close")
    page.click("#help-button")
    page.press("Escape")
    until(lambda: not page.run("return document.getElementById('help').open"), "the help stays")


def editing(page):
    page.open("#row?entity=book&key=2")
    page.click("tr[data-field=title] button")
    page.type("textarea", "Mills & <b>cards</b>")
    page.shot("edit")
    page.click("button=Save")
    page.shows("Mills & <b>cards</b>", "tr[data-field=title] td")
    page.click("tr[data-field=price] button")
    page.type("textarea", "much")
    page.click("button=Save")
    page.shows("this is no decimal", "#problem")
    page.click("button=Cancel")
    page.shows("8", "tr[data-field=price]")
    page.click("tr[data-field=writer] button")
    page.click("input[type=checkbox]")
    page.type("textarea", "1")
    page.press("Escape")
    page.shows("nil", "tr[data-field=writer] td")
    page.click("tr[data-field=price] button")
    store("book", {"id": 2, "price": "9"})
    page.shows("somebody has written this row", "#problem")
    page.click("button=Save")
    page.shows("somebody has written the row meanwhile", "#problem")
    page.click("button=Cancel")
    page.shows("9", "tr[data-field=price] td")


def erasing(page):
    store("writer", {"id": 900, "name": "Max"})
    page.open("#row?entity=writer&key=900")
    page.click("#erase button")
    page.shows("for good", "#erase")
    page.shot("erase")
    page.click("button=Keep it")
    page.shows("Erase", "#erase")
    page.click("#erase button")
    store("writer", {"id": 900, "name": "Eve"})
    page.shows("somebody has written this row", "#problem")
    page.click("button=Erase it")
    page.shows("somebody has written the row meanwhile", "#problem")
    page.click("button=Keep it")
    page.shows("Eve", "tr[data-field=name] td")
    page.click("#erase button")
    page.click("button=Erase it")
    page.shows("240 rows", "#count")


def looks(_):
    for name, phone, dark in [("phone", True, False), ("phone-dark", True, True), ("dark", False, True)]:
        with Browser(390 if phone else 1280, 844 if phone else 800, dark, phone) as page:
            page.open("#rows?entity=book")
            page.shows("Engines")
            page.shot(f"rows-{name}")
            page.open("#row?entity=book&key=1")
            page.shows("End, \"at last\"")
            page.shot(f"row-{name}")
            wide = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, f"the page is {wide} points too wide on {name}"


def ending(page):
    page.open("#rows?entity=book")
    page.shows("Engines")
    os.kill(int(PROCESS), signal.SIGINT)
    page.shows("not connected", "#live")
    page.shows("start it again", "#problem")
    page.shows("Engines", "#content")
    page.shot("ended")


def main():
    os.makedirs(DIRECTORY, exist_ok=True)
    (seen, pressed, count) = (set(), set(), 0)
    with Browser(1280, 800) as page:
        for check in [overview, sorting, filtering, paging, relationships, changes, keys, editing, erasing, looks, ending]:
            try:
                check(page)
            except AssertionError as error:
                page.shot("failed")
                sys.exit(f"browse-test: {check.__name__}: {error}")
            count += 1
            seen |= set(page.run("return [...window.seen]"))
            pressed |= set(page.run("return [...window.pressed]"))
            # The last part ends the server.
            complaints = [] if check == ending else page.complaints()
            if complaints:
                sys.exit(f"browse-test: {check.__name__}: the console says: {complaints}")
        if seen - pressed:
            sys.exit(f"browse-test: nothing has pressed: {', '.join(sorted(seen - pressed))}")
    print(f"browse-test: {count} parts passed, {len(seen)} kinds of buttons pressed; screenshots in {DIRECTORY}")


main()
