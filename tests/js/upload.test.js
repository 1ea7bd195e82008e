import assert from "node:assert/strict";
import { test } from "node:test";

import { progressOf } from "../../static/js/lib/upload.js";

test("an upload of unknown size has no share", () => {
  assert.deepEqual(progressOf(10, 0), { share: null, words: "Uploading…" });
});

test("the share and the megabytes are told", () => {
  assert.deepEqual(progressOf(2 ** 20 * 1.5, 2 ** 20 * 6), { share: 0.25, words: "1.5 of 6.0 MB" });
  assert.equal(progressOf(2 ** 20 * 20, 2 ** 20 * 400).words, "20 of 400 MB");
});

test("all sent is not all done", () => {
  assert.deepEqual(progressOf(5, 5), { share: 1, words: "Received. Checking…" });
});
