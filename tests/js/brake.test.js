import assert from "node:assert/strict";
import test from "node:test";
import { Brake, IN_A_ROW } from "../../static/js/judge/brake.js";

function pressed(n, gap) {
  let n_stops = 0;
  const brake = new Brake(() => {
    n_stops += 1;
  });
  for (let i = 0; i < n; i += 1) brake.refused(i * gap);
  return n_stops;
}

test("a held key is stopped every so many presses", () => {
  assert.equal(pressed(IN_A_ROW - 1, 30), 0);
  assert.equal(pressed(3 * IN_A_ROW, 30), 3);
});

test("presses with pauses between them are no row", () => {
  assert.equal(pressed(3 * IN_A_ROW, 3500), 0);
});
