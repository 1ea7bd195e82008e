import assert from "node:assert/strict";
import { test } from "node:test";
import { Line } from "../../static/js/verify/line.js";

const question = (uid) => ({ uid });

test("questions come in their order, each once", () => {
  const line = new Line();
  line.add([question("a"), question("b")]);
  line.add([question("b"), question("c")]);
  const seen = [];
  while (line.current()) {
    seen.push(line.current().uid);
    line.answered();
  }
  assert.deepEqual(seen, ["a", "b", "c"]);
});

test("what is taken back is shown again, the last first", () => {
  const line = new Line();
  line.add([question("a"), question("b"), question("c")]);
  line.answered();
  line.answered();
  assert.equal(line.back().uid, "b");
  assert.equal(line.back().uid, "a");
  assert.equal(line.back(), null);
  assert.equal(line.current().uid, "a");
  assert.equal(line.nLeft, 3);
});

test("what another tab answers is left out, and comes again once it is taken back there", () => {
  const line = new Line();
  line.add([question("a"), question("b")]);
  line.skip([{ question: "a", choice: "pick" }]);
  assert.equal(line.current().uid, "b");
  line.skip([{ question: "a", choice: "withdrawn" }]);
  line.add([question("a")]);
  assert.equal(line.nLeft, 2);
});

test("what an earlier page has answered is not asked again, unless it was taken back", () => {
  const line = new Line();
  line.skip([
    { question: "a", choice: "pick" },
    { question: "b", choice: "none" },
    { question: "b", choice: "withdrawn" },
  ]);
  line.add([question("a"), question("b")]);
  assert.equal(line.current().uid, "b");
});

test("the server is told what need not come again", () => {
  const line = new Line();
  line.skip([{ question: "x", choice: "none" }]);
  line.add([question("a"), question("b")]);
  line.answered();
  assert.deepEqual(new Set(line.known()), new Set(["a", "b", "x"]));
});
