import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { actionFor } from "../../static/js/lib/keys.js";
import { keyMapOf } from "../../static/js/verify/keys.js";
import { Line } from "../../static/js/verify/line.js";
import { Session } from "../../static/js/verify/session.js";

const BUTTONS = [
  { keys: "n", action: "none" },
  { keys: "g ?", action: "guidelines" },
];
const press = (key) => ({ key, repeat: false, isComposing: false, defaultPrevented: false, target: null });

test("a letter picks the picture of its place, and a button's keys do what the button does", () => {
  const map = keyMapOf({ pickKeys: "12q", arrows: "move", buttons: BUTTONS });
  assert.equal(actionFor(press("1"), map), "pick 0");
  assert.equal(actionFor(press("Q"), map), "pick 2");
  assert.equal(actionFor(press("n"), map), "none");
  assert.equal(actionFor(press("?"), map), "guidelines");
  assert.equal(actionFor(press("x"), map), null);
});

test("arrows move among many pictures, and pick one of two", () => {
  const many = keyMapOf({ pickKeys: "12", arrows: "move", buttons: [] });
  const two = keyMapOf({ pickKeys: "fj", arrows: "pick", buttons: [] });
  assert.equal(actionFor(press("ArrowDown"), many), "move down");
  assert.equal(actionFor(press("ArrowRight"), two), "pick 1");
  assert.equal(actionFor(press("ArrowDown"), two), null);
  assert.equal(actionFor(press("Enter"), two), "enter");
});

let line;
let sent;
let session;
let clock;

beforeEach(() => {
  clock = Date.UTC(2026, 0, 1);
  line = new Line();
  line.add([{ uid: "a" }, { uid: "b" }]);
  sent = [];
  let n = 0;
  session = new Session({
    line,
    outbox: { add: (body) => sent.push(body) },
    now: () => clock,
    newUuid: () => `uuid-${(n += 1)}`,
  });
});

test("a pick has the body of the contract, and the next question comes", () => {
  session.answer("pick", { place: 3, device: "touch", shownAt: clock - 1000 });
  assert.deepEqual(sent, [
    {
      uuid: "uuid-1",
      question: "a",
      choice: "pick",
      place: 3,
      device: "touch",
      shown_at: "2025-12-31T23:59:59.000Z",
      decided_at: "2026-01-01T00:00:00.000Z",
    },
  ]);
  assert.equal(line.current().uid, "b");
});

test("only a pick has a place", () => {
  session.answer("none", { place: null, device: "keyboard", shownAt: clock });
  assert.equal("place" in sent[0], false);
});

test("undo withdraws the last answer and asks its question again, until there is none left", () => {
  session.answer("none", { place: null, device: "keyboard", shownAt: clock });
  assert.equal(session.undo({ device: "mouse" }), true);
  assert.deepEqual([sent[1].question, sent[1].choice, sent[1].device], ["a", "withdrawn", "mouse"]);
  assert.equal(line.current().uid, "a");
  assert.equal(session.undo({ device: "mouse" }), false);
  assert.equal(sent.length, 2);
});

test("an answer is never decided before its question was shown", () => {
  session.answer("none", { place: null, device: "keyboard", shownAt: clock + 5000 });
  assert.equal(sent[0].decided_at, sent[0].shown_at);
});
