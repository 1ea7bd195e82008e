import assert from "node:assert/strict";
import { test } from "node:test";

import { makeUuid } from "../../static/js/lib/uuid.js";

const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("a UUID is random and well formed, with and without the browser's own", () => {
  const bare = { getRandomValues: (bytes) => globalThis.crypto.getRandomValues(bytes) };
  for (const source of [globalThis.crypto, bare]) {
    const made = Array.from({ length: 100 }, () => makeUuid(source));
    for (const uuid of made) assert.match(uuid, FORM);
    assert.equal(new Set(made).size, 100);
  }
});
