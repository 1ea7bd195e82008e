"""Take the pictures of the guides from the running demo: `python docs/screenshots.py [FOLDER]`.

Run `script/demo --no-serve` first. The site is started for it and stopped after it. With
`--themes` each page is also taken dark and 390 pixels wide, to look at; FOLDER should then be
another one than docs/images. The answers that are given for the pictures are taken back; the
guidelines stay read, and a draft (“Second panel”) and a campaign of grades (“How alike?”) stay
in the demo.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOOKALIKE_DATA", ROOT / "var"))
PORT = 8457
ADDRESS = f"http://127.0.0.1:{PORT}"
PANEL = "demo-simulated-experts"
GRADED = "How alike?"
LANGUAGES = ("de", "es")  # beside English, of the judges' guide
DEAD_MS = 220  # a second key within this time does nothing
N_COLOURS = 128
Theme = Literal["light", "dark"]


def dotted(language: str) -> str:
    """Return what stands before a picture's suffix where it is not in English."""
    return "" if language == "en" else f".{language}"


class Window(NamedTuple):
    """How a page is looked at."""

    theme: Theme = "light"
    width: int = 1280
    height: int = 800
    language: str = "en"

    @property
    def end(self) -> str:
        """How the names of its pictures end, before the suffix."""
        return f"{self.theme}-{self.width}{dotted(self.language)}"


WINDOWS = [Window(), Window("dark"), Window("light", 390, 844)]
PAGES = {
    "admin-home": "/",
    "catalogs": "/catalogs/",
    "catalog": "/catalogs/demo/",
    "new-pool": "/pools/new/",
    "pool": "/pools/demo-pool/",
    "new-campaign": "/pools/demo-pool/campaign/",
    "campaigns": "/campaigns/",
    "campaign-progress": f"/campaigns/{PANEL}/",
    "campaign-panel": f"/campaigns/{PANEL}/panel/",
    "campaign-guidelines": f"/campaigns/{PANEL}/guidelines/",
    "campaign-quality": f"/campaigns/{PANEL}/quality/",
    "campaign-agreement": f"/campaigns/{PANEL}/agreement/",
    "campaign-adjudication": f"/campaigns/{PANEL}/adjudication/",
    "campaign-gold": "/campaigns/second-panel/gold/",
    "campaign-settings": "/campaigns/second-panel/settings/",
}
SHOWN_FROM = {"campaign-adjudication": ".page-tabs, nav.tabs", "results": "dl.tiles"}
IN_GUIDES = {
    "campaign-progress", "campaign-quality", "campaign-agreement", "campaign-adjudication",
    "campaign-settings", "results",
}  # fmt: skip


@contextmanager
def site() -> Iterator[None]:
    """Serve the demo while the pictures are taken."""
    process = subprocess.Popen(
        [sys.executable, "-m", "config.server", "--port", str(PORT)], cwd=ROOT
    )
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{ADDRESS}/accounts/login/", timeout=5).close()  # noqa: S310
                break
            except OSError:  # not yet, or too busy yet
                time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(60)


def signed_in(browser: Browser, name: str, window: Window) -> Page:
    """Open a window as one of the demo's people."""
    password = json.loads((DATA / "demo-logins.json").read_text())[name]
    page = browser.new_context(
        base_url=ADDRESS,
        viewport={"width": window.width, "height": window.height},
        color_scheme=window.theme,
        locale=window.language,
        has_touch=window.width < 600,
        device_scale_factor=2 if window.width < 600 else 1,
    ).new_page()
    page.goto("/accounts/login/")
    page.fill("input[name=login]", name)
    page.fill("input[name=password]", password)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    return page


def keep(page: Page, file: Path) -> None:
    """Store what the window shows, small: photos as JPEG, the rest with few colours."""
    with Image.open(io.BytesIO(page.screenshot())) as shot:
        picture = shot.convert("RGB")
        if file.suffix == ".jpg":
            picture.save(file, quality=80, optimize=True, progressive=True)
        else:
            picture.quantize(N_COLOURS).save(file, optimize=True)


def begin(page: Page, name: str, folder: Path, end: str) -> None:
    """Go to a campaign's judging page, past the guidelines, and wait for its first pair."""
    page.goto("/judge/")
    card = page.locator(".card", has=page.get_by_role("heading", name=name, exact=True))
    card.locator("a[href^='/judge/']").click()
    page.wait_for_selector("#judge[data-is-loaded]")
    read = page.locator("#guidelines[open] [data-part=read]")
    if page.locator("#judge[data-is-unread]").count():
        read.wait_for()
        keep(page, folder / f"judge-guidelines-{end}")
        read.click()
    if page.locator("[data-view=sheet]").is_visible():
        page.keyboard.press("m")
    page.wait_for_selector("[data-view=pair] .frame img >> nth=1")


def answer(page: Page, keys: str) -> None:
    """Press keys, each once its pictures can be seen."""
    for key in keys:
        page.wait_for_timeout(DEAD_MS)
        page.wait_for_selector(":is([data-view=pair][data-ready], [data-view=sheet]):not([hidden])")
        page.keyboard.press(key)


def take_back(page: Page, n: int) -> None:
    """Undo so many answers."""
    for _ in range(n):
        page.wait_for_timeout(DEAD_MS)
        page.keyboard.press("u")
    expect(page.locator(".judge-saved")).to_have_attribute("data-is", "saved")


def judging(browser: Browser, folder: Path, window: Window) -> None:
    """The judge's pages in both modes, with a few answers, which are then taken back."""
    page = signed_in(browser, "demo-annotator", window)
    end = f"{window.end}.jpg"
    keep(page, folder / f"judge-home-{end}")
    begin(page, "Demo, your turn", folder, end)
    keys = "fffjfcfj"
    answer(page, keys)
    expect(page.locator(".judge-saved")).to_have_attribute("data-is", "saved")
    page.wait_for_timeout(1500)
    keep(page, folder / f"judge-pair-{end}")
    page.keyboard.press("m")
    page.wait_for_timeout(1500)
    answer(page, "fjf")
    page.wait_for_timeout(500)
    keep(page, folder / f"judge-sheet-{end}")
    page.keyboard.press("?")
    page.wait_for_timeout(300)
    keep(page, folder / f"judge-keys-{end}")
    page.keyboard.press("Escape")
    take_back(page, len(keys) + 3)
    page.keyboard.press("m")
    expect(page.locator(".judge-saved")).to_have_attribute("data-is", "saved")
    begin(page, GRADED, folder, end)
    answer(page, "01320")
    page.wait_for_timeout(1500)
    keep(page, folder / f"judge-grades-{end}")
    take_back(page, 5)
    page.context.close()


def make_draft(chief: Page) -> None:
    """Keep a second campaign of the demo's pool as a draft, once."""
    if chief.goto("/campaigns/second-panel/").status == 200:  # type: ignore[union-attr]
        return
    chief.goto("/pools/demo-pool/campaign/")
    chief.fill("input[name=name]", "Second panel")
    chief.locator("input[name=panel]").first.check()
    chief.get_by_role("button", name="Save the draft").click()
    chief.wait_for_url("**/campaigns/second-panel/")


def open_graded(chief: Page) -> None:
    """Have the same pool judged by grades, once."""
    if chief.goto("/campaigns/how-alike/").status == 200:  # type: ignore[union-attr]
        return
    chief.goto("/pools/demo-pool/campaign/")
    chief.fill("input[name=name]", GRADED)
    chief.locator("input[name=panel]").first.check()
    chief.get_by_label("Grades of similarity").check()
    chief.get_by_role("button", name="Save, then check and open").click()
    chief.get_by_role("button", name="Open for judging").click()
    chief.wait_for_url("**/campaigns/how-alike/")


def pages(browser: Browser, folder: Path, window: Window) -> None:
    """What admins and researchers see."""
    chief = signed_in(browser, "demo-admin", window)
    make_draft(chief)
    open_graded(chief)
    for name, address in PAGES.items():
        chief.goto(address)
        chief.wait_for_timeout(600)
        if name in SHOWN_FROM:
            chief.locator(SHOWN_FROM[name]).first.evaluate("one => one.scrollIntoView()")
        kind = "jpg" if name == "campaign-adjudication" else "png"
        keep(chief, folder / f"{name}-{window.end}.{kind}")
    reader = signed_in(browser, "demo-researcher", window)
    for name, address in (("results-home", "/results/"), ("results", f"/results/{PANEL}/")):
        reader.goto(address)
        reader.wait_for_timeout(600)
        if name in SHOWN_FROM:
            reader.locator(SHOWN_FROM[name]).first.evaluate("one => one.scrollIntoView()")
        keep(reader, folder / f"{name}-{window.end}.png")
    chief.context.close()
    reader.context.close()


def use(taken: Path, folder: Path) -> None:
    """Give the guides the pictures that they show."""
    names = {
        "judge-pair": "judge-pair-light-1280",
        "judge-sheet": "judge-sheet-light-1280",
        "judge-phone": "judge-pair-light-390",
        "judge-grades": "judge-grades-light-1280",
    }
    for (name, file), language in itertools.product(names.items(), ["en", *LANGUAGES]):
        end = f"{dotted(language)}.jpg"
        shutil.copy(taken / f"{file}{end}", folder / f"{name}{end}")
    for name in IN_GUIDES:
        [found] = taken.glob(f"{name}-light-1280.*")
        shutil.copy(found, folder / f"{name}{found.suffix}")


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "docs" / "images")
    parser.add_argument("--themes", action="store_true", help="dark and narrow pages, too")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with site(), sync_playwright() as playwright, tempfile.TemporaryDirectory() as temporary:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        taken = options.folder if options.themes else Path(temporary)
        for window in WINDOWS if options.themes else WINDOWS[:1]:
            pages(browser, taken, window)
        for window, language in itertools.product(WINDOWS, ["en", *LANGUAGES]):
            judging(browser, taken, window._replace(language=language))
        if not options.themes:
            use(taken, options.folder)
        browser.close()


if __name__ == "__main__":
    main()
