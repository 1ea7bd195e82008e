import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { ImageShelf } from "../../static/js/lib/images.js";

let asked;
let fails;
let n_open;
let n_most;

class FakeImage {
  complete = false;

  async decode() {
    this.complete = true;
  }
}

function makeShelf(more = {}) {
  return new ImageShelf({
    makeImage: () => new FakeImage(),
    fetchBlob: async (url) => {
      asked.push(url);
      n_open += 1;
      n_most = Math.max(n_most, n_open);
      await null;
      n_open -= 1;
      if ((fails.get(url) ?? 0) > 0) {
        fails.set(url, fails.get(url) - 1);
        throw new Error("no");
      }
      return `bytes of ${url}`;
    },
    urls: { createObjectURL: (blob) => `blob:${blob}`, revokeObjectURL: () => {} },
    wait: async () => {},
    ...more,
  });
}

async function settle() {
  for (let i = 0; i < 300; i += 1) await null;
}

beforeEach(() => {
  asked = [];
  fails = new Map();
  n_open = n_most = 0;
});

test("the near ones are decoded, the far ones fetched, each once", async () => {
  const shelf = makeShelf();
  shelf.want(["a", "b", "c", "d", "a"], 2);
  await settle();
  assert.deepEqual(asked, ["a", "b", "c", "d"]);
  assert.deepEqual(["a", "b", "c", "d"].map((url) => shelf.isReady(url)), [true, true, false, false]);
  assert.ok(["a", "b", "c", "d"].every((url) => shelf.isHere(url)));
  assert.equal(shelf.readyAhead(["a", "b", "c"]), 2);
});

test("a decoded picture is handed out at once, and always the same one", async () => {
  const shelf = makeShelf();
  assert.equal(shelf.now("a"), null);
  const image = await shelf.decoded("a");
  assert.equal(shelf.now("a"), image);
  assert.equal(await shelf.decoded("a"), image);
  assert.equal(image.src, "blob:bytes of a");
});

test("what is not wanted any more is let go", async () => {
  const shelf = makeShelf();
  shelf.want(["a", "b"], 1);
  await settle();
  shelf.want(["b"], 1);
  assert.equal(shelf.isHere("a"), false);
  assert.equal(shelf.isHere("b"), true);
});

test("a picture that is let go while it is fetched is not shown", async () => {
  const shelf = makeShelf();
  const image = shelf.decoded("a");
  shelf.want(["b"], 0);
  await assert.rejects(image, /not wanted/);
});

test("only a few requests run at once", async () => {
  const shelf = makeShelf({ parallel: 3 });
  shelf.want(Array.from({ length: 20 }, (_, i) => `u${i}`), 0);
  await settle();
  assert.equal(asked.length, 20);
  assert.ok(n_most <= 3, `${n_most} at once`);
});

test("a request that fails is made again, and at last the caller hears of it", async () => {
  const shelf = makeShelf();
  fails.set("a", 2);
  assert.ok(await shelf.decoded("a"));
  fails.set("b", 99);
  await assert.rejects(shelf.decoded("b"));
  fails.clear();
  assert.ok(await shelf.decoded("b"), "asking again later works");
});

test("one picture that cannot be had does not keep the others", async () => {
  const shelf = makeShelf({ parallel: 1 });
  fails.set("a", 99);
  shelf.want(["a", "b", "c"], 0);
  await settle();
  assert.deepEqual([shelf.isHere("b"), shelf.isHere("c")], [true, true]);
});
