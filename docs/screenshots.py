"""Take the pictures of the guides from the running demo: `python docs/screenshots.py [FOLDER]`.

Run `script/demo --no-serve` first. The site is started for it and stopped after it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOOKALIKE_DATA", ROOT / "var"))
PORT = 8457
ADDRESS = f"http://127.0.0.1:{PORT}"
Theme = Literal["light", "dark"]


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
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(60)


def signed_in(
    browser: Browser, name: str, theme: Theme = "light", width: int = 1280, height: int = 800
) -> Page:
    """Open a window as one of the demo's people."""
    password = json.loads((DATA / "demo-logins.json").read_text())[name]
    page = browser.new_context(
        base_url=ADDRESS, viewport={"width": width, "height": height}, color_scheme=theme
    ).new_page()
    page.goto("/accounts/login/")
    page.fill("input[name=login]", name)
    page.fill("input[name=password]", password)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    return page


def judging(browser: Browser, folder: Path) -> None:
    """The judge's pages, in both modes and both themes."""
    themes: tuple[Theme, ...] = ("light", "dark")
    for theme in themes:
        page = signed_in(browser, "demo-annotator", theme)
        page.screenshot(path=folder / f"judge-home-{theme}.png")
        page.locator("main a[href^='/judge/']").first.click()
        page.wait_for_selector("[data-view]:not([hidden])")
        page.wait_for_timeout(2500)
        page.screenshot(path=folder / f"judging-{theme}.png")
        page.locator("[data-action=mode]").first.click()
        page.wait_for_timeout(1200)
        page.screenshot(path=folder / f"judging-other-mode-{theme}.png")
        page.locator("[data-action=mode]").first.click()
        page.context.close()


def pages(browser: Browser, folder: Path) -> None:
    """What admins and researchers see."""
    chief = signed_in(browser, "demo-admin")
    for name, address in (
        ("admin-home", "/"),
        ("catalogs", "/catalogs/"),
        ("catalog", "/catalogs/demo/"),
        ("new-pool", "/pools/new/"),
        ("pool", "/pools/demo-pool/"),
        ("campaigns", "/campaigns/"),
    ):
        chief.goto(address)
        chief.wait_for_timeout(600)
        chief.screenshot(path=folder / f"{name}.png")
    reader = signed_in(browser, "demo-researcher")
    for name, address in (
        ("results-home", "/results/"),
        ("results", "/results/demo-simulated-experts/"),
    ):
        reader.goto(address)
        reader.wait_for_timeout(600)
        reader.screenshot(path=folder / f"{name}.png")


def main() -> None:
    """Take all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    with site(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        judging(browser, folder)
        pages(browser, folder)
        browser.close()


if __name__ == "__main__":
    main()
