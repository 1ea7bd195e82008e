import assert from "node:assert/strict";
import { test } from "node:test";

import { makeUuid } from "../../static/js/lib/uuid.js";

const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("UUIDs are well formed, and no two of one moment are the same", () => {
  const made = Array.from({ length: 100 }, () => makeUuid(1_795_000_000_000));
  for (const uuid of made) assert.match(uuid, FORM);
  assert.equal(new Set(made).size, 100);
});

test("a UUID begins with its time, as RFC 9562 writes it, so that later ones come behind", () => {
  assert.equal(makeUuid(0x017f22e279b0).slice(0, 15), "017f22e2-79b0-7"); // the RFC's own example
  const times = [1, 255, 256, 2 ** 40 - 1, 2 ** 40, 2 ** 48 - 1];
  const made = times.map((time) => makeUuid(time));
  assert.deepEqual(made.toSorted(), made);
});
