import assert from "node:assert/strict";
import { test } from "node:test";

import { areaText, Pairs, Points, View } from "../../static/js/map/points.js";

const FULL = 65_535;

/** The server's file of so many points, with uids whose last byte is their row + 1. */
function file(places) {
  const buffer = new ArrayBuffer(20 * places.length);
  new Uint16Array(buffer, 0, 2 * places.length).set(places.flat().map((at) => Math.round(at * FULL)));
  const uids = new Uint8Array(buffer, 4 * places.length);
  places.forEach((_, row) => (uids[16 * row + 15] = row + 1));
  return buffer;
}

function scattered(n) {
  let seed = 1;
  const next = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  return Array.from({ length: n }, () => [next(), next()]);
}

test("points and names are read in one order", () => {
  const points = new Points(file([[0, 0], [1, 0.5]]));
  assert.equal(points.n, 2);
  assert.deepEqual([...points.xy].map((at) => Math.round(at * 10) / 10), [0, 0, 1, 0.5]);
  assert.equal(points.uid(1), "00000000-0000-0000-0000-000000000002");
  assert.equal(new Points(new ArrayBuffer(20)).uid(0), null); // deleted since
  assert.deepEqual(new Points(new ArrayBuffer(0)).inside({ left: 0, top: 0, right: 1, bottom: 1 }), []);
});

test("a rectangle and the nearest point are what a look at every point finds", () => {
  const points = new Points(file(scattered(3000)));
  for (const [left, top, right, bottom] of [[0, 0, 1, 1], [0.1, 0.2, 0.35, 0.9], [0.5, 0.5, 0.5, 0.5], [0.99, 0, 1, 1]]) {
    const slow = [];
    for (let row = 0; row < points.n; row += 1) {
      const [x, y] = points.xy.subarray(2 * row, 2 * row + 2);
      if (x >= left && x <= right && y >= top && y <= bottom) slow.push(row);
    }
    assert.deepEqual(points.inside({ left, top, right, bottom }), slow);
  }
  for (const [x, y] of scattered(40)) {
    let [found, least] = [-1, 0.02 ** 2];
    for (let row = 0; row < points.n; row += 1) {
      const distance = (points.xy[2 * row] - x) ** 2 + (points.xy[2 * row + 1] - y) ** 2;
      if (distance <= least) [found, least] = [row, distance];
    }
    assert.equal(points.nearest(x, y, 0.02), found);
  }
});

test("arrow keys go to what lies in their direction, and stay where there is nothing", () => {
  const points = new Points(file([[0.5, 0.5], [0.7, 0.5], [0.9, 0.5], [0.5, 0.2]]));
  assert.equal(points.neighbour(0, 1, 0), 1);
  assert.equal(points.neighbour(1, 1, 0), 2);
  assert.equal(points.neighbour(0, 0, -1), 3);
  assert.equal(points.neighbour(2, 1, 0), -1);
});

test("images are told apart by how many of their pairs are judged", () => {
  // queries 0 and one of another catalog; 1 judged twice, 2 once of two, 3 never, 4 in no pair
  const list = [0, 1, 1, 0, 2, 1, 0, 3, 0, -1, 1, 1, -1, 2, 0, 0, -1, 1];
  const pairs = new Pairs(Int32Array.from([2, 0, -1, ...list]).buffer, 5);
  assert.deepEqual([...pairs.kind], [4, 3, 2, 1, 0]);
  assert.deepEqual(pairs.counts, [1, 1, 1, 1, 1]);
  assert.equal(pairs.of.get(0).length, 4);
});

test("a zoom keeps the place under the pointer, and no view leaves the map", () => {
  const view = new View(800, 600);
  const before = view.place(200, 100);
  view.zoom(3, 200, 100);
  view.place(200, 100).forEach((at, axis) => assert.ok(Math.abs(at - before[axis]) < 1e-9));
  view.move(1e9, -1e9);
  assert.deepEqual([view.x, view.y], [1, 0]);
  view.whole();
  view.zoom(20);
  view.show(0.9, 0.1);
  const [px, py] = view.pixel(0.9, 0.1);
  assert.ok(px > 0 && px < 800 && py > 0 && py < 600);
});

test("an area is the same whichever way it was drawn, and lies within the map", () => {
  const view = new View(800, 600);
  assert.deepEqual(view.area(700, 500, 100, 50), view.area(100, 50, 700, 500));
  assert.deepEqual(view.all, { left: 0, top: 0, right: 1, bottom: 1 });
  assert.equal(areaText({ left: 0, top: 0.1234567, right: 1, bottom: 0.5 }), "0,0.12346,1,0.5");
});
