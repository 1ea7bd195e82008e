import assert from "node:assert/strict";
import { test } from "node:test";

import { Breaks, IDLE_MS, Pace, workTime } from "../../static/js/lib/pace.js";

test("the pace is unknown before the fifth answer", () => {
  const pace = new Pace();
  for (const ms of [1000, 2000, 3000, 4000]) pace.add(ms);
  assert.equal(pace.msPerAnswer, null);
  assert.equal(pace.left(10), null);
  pace.add(5000);
  assert.equal(pace.msPerAnswer, 3000);
  assert.equal(pace.left(10), 30_000);
});

test("time away is left out", () => {
  const pace = new Pace();
  for (let i = 0; i < 5; i += 1) pace.add(2000);
  pace.add(IDLE_MS + 1);
  pace.add(3 * 3_600_000);
  pace.add(NaN);
  pace.add(-5);
  assert.equal(pace.msPerAnswer, 2000);
});

test("only the last hundred answers count", () => {
  const pace = new Pace();
  for (let i = 0; i < 50; i += 1) pace.add(10_000);
  for (let i = 0; i < 100; i += 1) pace.add(1000);
  assert.equal(pace.msPerAnswer, 1000);
});

test("work is said in minutes and hours, never shorter than it is", () => {
  assert.equal(workTime(null), "");
  assert.equal(workTime(59_000), "under a minute");
  assert.equal(workTime(61_000), "about 2 min");
  assert.equal(workTime(3_600_000), "about 1 h");
  assert.equal(workTime(7_800_000), "about 2 h 10 min");
  assert.equal(workTime(7_100_000), "about 2 h");
});

test("a break is proposed after a hundred answers, and again after the next hundred", () => {
  const breaks = new Breaks(0);
  const due = [];
  for (let i = 1; i <= 200; i += 1) if (breaks.note(i * 1000)) due.push(i);
  assert.deepEqual(due, [100, 200]);
});

test("a break is proposed after twenty minutes of slow work", () => {
  const breaks = new Breaks(0);
  let due = null;
  let n = 0;
  for (; due === null; n += 1) due = breaks.note((n + 1) * 60_000);
  assert.deepEqual(due, { n: 20, minutes: 20 });
});

test("who has rested for five minutes starts afresh", () => {
  const breaks = new Breaks(0);
  for (let i = 1; i <= 99; i += 1) assert.equal(breaks.note(i * 1000), null);
  assert.equal(breaks.note(99_000 + 300_000), null);
  for (let i = 1; i <= 98; i += 1) assert.equal(breaks.note(399_000 + i * 1000), null);
  assert.deepEqual(breaks.note(399_000 + 99_000), { n: 100, minutes: 2 });
});
