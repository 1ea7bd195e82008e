import assert from "node:assert/strict";
import { test } from "node:test";

import { Gate, KeyMap, actionFor, isTextField, keyName, refusalOf } from "../../static/js/lib/keys.js";

const MAP = new KeyMap({ similar: "j", different: "f", help: "?" }, { ArrowRight: "similar" });

function press(key, more = {}) {
  return { key, repeat: false, isComposing: false, defaultPrevented: false, target: null, ...more };
}

test("a key means its action, in either case, and a twin means the same", () => {
  assert.equal(actionFor(press("j"), MAP), "similar");
  assert.equal(actionFor(press("J"), MAP), "similar");
  assert.equal(actionFor(press("ArrowRight"), MAP), "similar");
  assert.equal(actionFor(press("?"), MAP), "help");
  assert.equal(actionFor(press("x"), MAP), null);
});

test("a held key does nothing", () => {
  assert.equal(actionFor(press("j", { repeat: true }), MAP), null);
});

for (const modifier of ["ctrlKey", "metaKey", "altKey"]) {
  test(`a key with ${modifier} belongs to the browser`, () => {
    assert.equal(actionFor(press("f", { [modifier]: true }), MAP), null);
  });
}

test("no shortcut fires in a text field, while composing, or beside an open dialog", () => {
  const field = { tagName: "INPUT", type: "text" };
  assert.equal(actionFor(press("j", { target: field }), MAP), null);
  assert.equal(actionFor(press("j", { isComposing: true }), MAP), null);
  assert.equal(actionFor(press("j"), MAP, { isDialogOpen: true }), null);
  assert.equal(actionFor(press("j", { defaultPrevented: true }), MAP), null);
});

test("buttons and check boxes are no text fields, but lists and editable parts are", () => {
  assert.equal(isTextField({ tagName: "BUTTON" }), false);
  assert.equal(isTextField({ tagName: "INPUT", type: "checkbox" }), false);
  assert.equal(isTextField({ tagName: "INPUT" }), true);
  assert.equal(isTextField({ tagName: "TEXTAREA" }), true);
  assert.equal(isTextField({ tagName: "SELECT" }), true);
  assert.equal(isTextField({ tagName: "DIV", isContentEditable: true }), true);
  assert.equal(isTextField(null), false);
});

test("a second strike within the dead time is not admitted, and does not prolong it", () => {
  const gate = new Gate(180);
  assert.equal(gate.admits(1000), true);
  assert.equal(gate.admits(1100), false);
  assert.equal(gate.admits(1179), false);
  assert.equal(gate.admits(1180), true);
});

test("a key on offer can be given to an action unless another has it", () => {
  const keys = { similar: "j", rest_different: "r" };
  assert.equal(refusalOf(keys, "similar", "k", ["j", "k", "r"]), "");
  assert.equal(refusalOf(keys, "similar", "j", ["j", "k", "r"]), "");
  assert.match(refusalOf(keys, "similar", "r", ["j", "k", "r"]), /rest different/);
  assert.match(refusalOf(keys, "similar", "<img>", ["j"]), /not on offer/);
});

test("named keys keep their name", () => {
  assert.equal(keyName({ key: "Escape" }), "Escape");
  assert.equal(keyName({ key: "Ä" }), "ä");
});
