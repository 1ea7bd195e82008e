import assert from "node:assert/strict";
import { test } from "node:test";

import { keyMapOf } from "../../static/js/judge/choice_keys.js";
import { addressOf, picturesIn, picturesOf, usePictures } from "../../static/js/judge/pictures.js";
import { isFinal, isVote } from "../../static/js/judge/session.js";
import { pickOf, placeOf, wordOf } from "../../static/js/judge/words.js";
import { actionFor } from "../../static/js/lib/keys.js";

const BUTTONS = [
  { keys: "n", action: "none" },
  { keys: "g ?", action: "guidelines" },
];
const press = (key) => ({ key, repeat: false, isComposing: false, defaultPrevented: false, target: null });
const question = { uid: "q", reference: "r", images: ["a", "b", "c"], condition: "" };

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

test("a pick names the picture by its key, and pages say where it stands", () => {
  assert.equal(pickOf("b"), "pick:b");
  assert.equal(placeOf("pick:b", question), 1);
  assert.equal(placeOf("pick:x", question), -1);
  assert.equal(placeOf("none", question), -1);
  assert.equal(wordOf("pick:c", question), "Image 3");
  assert.equal(wordOf("pick:b", { ...question, images: ["a", "b"] }), "Right");
  assert.equal(wordOf("pick:c"), "Picked");
  assert.equal(wordOf("several"), "Several");
});

test("what settles a question, and what votes, is the same for every kind of task", () => {
  for (const answer of ["similar", "pick:a", "none"]) assert.deepEqual([isFinal(answer), isVote(answer)], [true, true]);
  for (const answer of ["cant_tell", "skip"]) assert.deepEqual([isFinal(answer), isVote(answer)], [true, false]);
  for (const answer of ["later", "withdrawn", undefined]) assert.deepEqual([isFinal(answer), isVote(answer)], [false, false]);
});

test("all pictures of a question are fetched ahead, those to pick from in the size shown", () => {
  usePictures({ base: "/c/", size: "thumb" });
  assert.deepEqual(picturesOf(question), ["/c/q/r/view", "/c/q/a/thumb", "/c/q/b/thumb", "/c/q/c/thumb"]);
  assert.equal(addressOf(question, "a"), "/c/q/a/thumb");
  assert.deepEqual(picturesIn(question, "pick:b").map(({ url }) => url), ["/c/q/r/view", "/c/q/b/view"]);
  assert.deepEqual(picturesIn(question, "none").map(({ thumb_url }) => thumb_url), ["/c/q/r/thumb"]);
  const pair = { query: { url: "x" }, candidate: { url: "y" } };
  assert.deepEqual(picturesOf(pair), ["x", "y"]);
});
