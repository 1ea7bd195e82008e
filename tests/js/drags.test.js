import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, ROOT), "utf8");
const DRAG = /setPointerCapture|dragstart|addEventListener\("drop"|touchmove/;

/* Where something is dragged, and what in which file does the same by a key or button. */
const INSTEAD = {
  "lib/zoom.js": [
    ["static/js/judge/pair.js", "if (!shiftKey || !(key in PAN_BY)) return false;"],
    ["static/js/judge/main.js", "pair.pan(event)"],
    ["static/js/ruling.js", "pair?.pan(event)"],
    ["templates/annotation/judge.html", 'data-zoom-by="1.5"'],
  ],
  "map/main.js": [
    ...["left", "right", "up", "down", "in", "out", "view"].map((act) => ["templates/pooling/map.html", `data-do="${act}"`]),
    ["static/js/map/main.js", "goTo(arrow, event.shiftKey)"],
  ],
};

test("every drag has a key or a button", () => {
  const scripts = readdirSync(new URL("static/js/", ROOT), { recursive: true }).filter((name) => name.endsWith(".js"));
  const dragging = scripts.filter((name) => DRAG.test(read(`static/js/${name}`))).map((name) => name.replaceAll("\\", "/"));
  assert.deepEqual(dragging.sort(), Object.keys(INSTEAD).sort());
  for (const [path, text] of Object.values(INSTEAD).flat()) assert.ok(read(path).includes(text), `${path}: ${text}`);
});
