import assert from "node:assert/strict";
import { test } from "node:test";

import { agrees, gradeKeys } from "../../static/js/judge/words.js";

const GRADES = [["different:0", "No"], ["different:1", "A little"], ["similar:2", "Yes"], ["similar:3", "Very"]];
const DEFAULTS = { similar: "j", different: "f", skip: "s", later: "l", rest_different: "r", mode: "m", undo: "u" };

test("digits are grades, and nothing answers without a grade", () => {
  const keys = gradeKeys(DEFAULTS, GRADES, DEFAULTS);
  assert.deepEqual(keys, {
    "different:0": "0", "different:1": "1", "similar:2": "2", "similar:3": "3", skip: "s", later: "l", undo: "u",
  });
});

test("what a judge has put on such a digit has its default key again, if that is free", () => {
  const chosen = { ...DEFAULTS, skip: "3", later: "4", undo: "s" };
  const keys = gradeKeys(chosen, GRADES, DEFAULTS);
  assert.equal(keys["similar:3"], "3");
  assert.equal(keys.later, "4");
  assert.equal(keys.undo, "s");
  assert.equal(keys.skip, undefined); // a button is left
});

test("a training answer is near enough by one grade on the same side", () => {
  assert.ok(agrees("similar:2", "similar:3"));
  assert.ok(!agrees("different:1", "similar:2"));
  assert.ok(!agrees("similar:1", "similar:3"));
  assert.ok(agrees("similar", "similar"));
  assert.ok(!agrees("pick:a", "pick:b"));
});
