import assert from "node:assert/strict";
import { test } from "node:test";

import { FITTED, MAX_SCALE, clamped, panned, transformOf, zoomedAt } from "../../static/js/lib/zoom.js";

/** Which share of the picture lies under a share of the frame. */
function under(view, at) {
  return view.x + (at - 0.5) / view.scale;
}

test("the point under the pointer stays under it", () => {
  const at = { x: 0.3, y: 0.6 };
  const once = zoomedAt(FITTED, 2, at);
  const twice = zoomedAt(once, 1.7, at);
  assert.ok(Math.abs(under(once, at.x) - under(FITTED, at.x)) < 1e-12);
  assert.ok(Math.abs(under(twice, at.x) - under(once, at.x)) < 1e-12);
});

test("a picture never leaves its frame", () => {
  assert.deepEqual(clamped({ scale: 0.2, x: 0.9, y: 0.1 }), FITTED);
  assert.deepEqual(clamped({ scale: 2, x: 0, y: 1 }), { scale: 2, x: 0.25, y: 0.75 });
  assert.equal(clamped({ scale: 99, x: 0.5, y: 0.5 }).scale, MAX_SCALE);
});

test("dragging moves the picture with the pointer", () => {
  const view = panned({ scale: 4, x: 0.5, y: 0.5 }, 0.2, -0.2);
  assert.ok(Math.abs(view.x - 0.45) < 1e-12);
  assert.ok(Math.abs(view.y - 0.55) < 1e-12);
  assert.deepEqual(panned(FITTED, 0.3, 0.3), FITTED);
});

test("the transform puts the centre of the view into the middle of the frame", () => {
  assert.equal(transformOf(FITTED), "translate(0.000%, 0.000%) scale(1.0000)");
  assert.equal(transformOf({ scale: 2, x: 0.25, y: 0.75 }), "translate(50.000%, -50.000%) scale(2.0000)");
});
