import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { DELAYS_MS, Outbox, SendError } from "../../static/js/lib/outbox.js";
import { JournaledStore, LocalStore, MemoryStore } from "../../static/js/lib/stores.js";

let clock;
let timers;
let server;

/** A server that knows answers by their UUID, and a line to it that can be cut. */
class Server {
  known = new Map();
  order = [];
  requests = 0;
  isCut = false;
  losesReply = false;
  refuses = new Map();

  async take(bodies) {
    this.requests += 1;
    await null;
    if (this.isCut) throw new SendError("No connection to the server.");
    const results = bodies.map(({ uuid }) => {
      if (this.refuses.has(uuid)) return { uuid, status: "rejected", ...this.refuses.get(uuid) };
      if (this.known.has(uuid)) return { uuid, status: "duplicate", code: "", message: "" };
      this.known.set(uuid, true);
      this.order.push(uuid);
      return { uuid, status: "saved", code: "", message: "" };
    });
    if (this.losesReply) throw new SendError("The connection broke off.");
    return { results };
  }
}

function makeOutbox(more = {}) {
  return new Outbox({
    store: new MemoryStore(),
    send: (bodies) => server.take(bodies),
    now: () => clock,
    setTimer: (work, delay) => timers.push({ work, at: clock + delay }),
    clearTimer: () => timers.splice(0),
    ...more,
  });
}

/** Let time pass, and everything that waits for it happen. */
async function pass(ms) {
  clock += ms;
  for (const timer of timers.splice(0)) {
    if (timer.at <= clock) timer.work();
    else timers.push(timer);
  }
  await settle();
}

async function settle() {
  for (let i = 0; i < 200; i += 1) await null;
}

beforeEach(() => {
  clock = 1_000_000;
  timers = [];
  server = new Server();
});

test("what is added arrives once, in order, and the outbox is empty", async () => {
  const outbox = makeOutbox();
  for (const uuid of ["a", "b", "c"]) outbox.add({ uuid });
  await settle();
  assert.deepEqual(server.order, ["a", "b", "c"]);
  assert.equal(outbox.state, "saved");
  assert.deepEqual(await outbox.store.all(), []);
});

test("with the line cut, everything is kept and counted, and is sent later", async () => {
  const outbox = makeOutbox();
  server.isCut = true;
  for (let i = 0; i < 100; i += 1) outbox.add({ uuid: `u${i}` });
  await settle();
  assert.equal(outbox.state, "retrying");
  assert.equal(outbox.problem, "No connection to the server.");
  assert.equal((await outbox.store.all()).length, 100);
  server.isCut = false;
  await pass(DELAYS_MS.at(-1));
  assert.equal(server.order.length, 100);
  assert.deepEqual(server.order, Array.from({ length: 100 }, (_, i) => `u${i}`));
  assert.equal(outbox.state, "saved");
});

test("attempts become rarer while the line is cut, and new answers do not hurry them", async () => {
  const outbox = makeOutbox();
  server.isCut = true;
  outbox.add({ uuid: "a" });
  await settle();
  for (let i = 0; i < 10; i += 1) outbox.add({ uuid: `b${i}` });
  await settle();
  assert.equal(server.requests, 1);
  await pass(DELAYS_MS[0] - 1);
  assert.equal(server.requests, 1);
  await pass(1);
  assert.equal(server.requests, 2);
  await pass(DELAYS_MS[1] - 1);
  assert.equal(server.requests, 2);
  await pass(1);
  assert.equal(server.requests, 3);
});

test("a lost reply loses and doubles nothing", async () => {
  const outbox = makeOutbox();
  server.losesReply = true;
  outbox.add({ uuid: "a" });
  await settle();
  assert.equal(outbox.waiting.length, 1);
  server.losesReply = false;
  await pass(DELAYS_MS[0]);
  assert.deepEqual(server.order, ["a"]);
  assert.equal(outbox.waiting.length, 0);
  assert.equal(outbox.parked.length, 0);
});

test("what an earlier page has left is sent by the next", async () => {
  const store = new MemoryStore();
  server.isCut = true;
  makeOutbox({ store }).add({ uuid: "a" }, { question: 1 });
  await settle();
  server.isCut = false;
  const next = makeOutbox({ store });
  assert.deepEqual((await next.open()).map(({ body, shown }) => [body.uuid, shown]), [["a", { question: 1 }]]);
  await next.flush();
  assert.deepEqual(server.order, ["a"]);
  assert.deepEqual(await store.all(), []);
});

test("a refused answer is parked with the reason, and the others arrive", async () => {
  const outbox = makeOutbox();
  server.refuses.set("b", { code: "not_served", message: "This question was not given to you." });
  for (const uuid of ["a", "b", "c"]) outbox.add({ uuid });
  await settle();
  assert.deepEqual(server.order, ["a", "c"]);
  assert.deepEqual(outbox.parked.map(({ uuid, parked }) => [uuid, parked.message]), [
    ["b", "This question was not given to you."],
  ]);
  assert.equal(outbox.state, "saved");
  assert.equal((await outbox.store.all()).length, 1, "it outlives the page");
  server.refuses.clear();
  await outbox.release("b");
  assert.deepEqual(server.order, ["a", "c", "b"]);
});

test("a refused answer goes only when a person says so", async () => {
  const outbox = makeOutbox();
  server.refuses.set("a", { code: "closed", message: "The campaign is closed." });
  outbox.add({ uuid: "a" });
  await settle();
  await outbox.flush();
  assert.equal(outbox.parked.length, 1);
  await outbox.discard("a");
  assert.deepEqual(await outbox.store.all(), []);
});

test("what waits cannot be discarded", async () => {
  const outbox = makeOutbox();
  server.isCut = true;
  outbox.add({ uuid: "a" });
  await settle();
  await outbox.discard("a");
  assert.equal(outbox.waiting.length, 1);
});

test("a refusal that passes keeps the answer waiting", async () => {
  const outbox = makeOutbox({ keeps: new Set(["paused"]) });
  server.refuses.set("a", { code: "paused", message: "The campaign is paused." });
  outbox.add({ uuid: "a" });
  await settle();
  assert.equal(outbox.state, "retrying");
  assert.equal(outbox.parked.length, 0);
  server.refuses.clear();
  await pass(DELAYS_MS[0]);
  assert.deepEqual(server.order, ["a"]);
});

test("one answer that the server cannot read does not hold up the others", async () => {
  const outbox = makeOutbox({
    send: async (bodies) => {
      if (bodies.some(({ uuid }) => uuid === "bad")) throw new SendError("No.", { isFinal: true });
      return server.take(bodies);
    },
  });
  server.isCut = true;
  outbox.add({ uuid: "first" });
  await settle();
  for (const uuid of ["a", "bad", "b"]) outbox.add({ uuid });
  server.isCut = false;
  await pass(DELAYS_MS[0]);
  assert.deepEqual(server.order, ["first", "a", "b"]);
  assert.deepEqual(outbox.parked.map(({ uuid }) => uuid), ["bad"]);
});

test("an answer without a result is sent again", async () => {
  let isFirst = true;
  const outbox = makeOutbox({
    send: async (bodies) => {
      if (!isFirst) return server.take(bodies);
      isFirst = false;
      return { results: [] };
    },
  });
  outbox.add({ uuid: "a" });
  await settle();
  assert.equal(outbox.waiting.length, 1);
  await pass(DELAYS_MS[0]);
  assert.deepEqual(server.order, ["a"]);
});

test("a full disk loses nothing while the page is open", async () => {
  const store = new MemoryStore();
  store.put = async () => {
    throw new Error("QuotaExceededError");
  };
  const outbox = makeOutbox({ store });
  server.isCut = true;
  outbox.add({ uuid: "a" });
  await settle();
  assert.equal(outbox.isStored, false);
  assert.equal(outbox.waiting.length, 1);
  server.isCut = false;
  await pass(DELAYS_MS[0]);
  assert.deepEqual(server.order, ["a"]);
});

test("two tabs share one outbox: one sends, the other hears of it", async () => {
  const store = new MemoryStore();
  const channels = [{}, {}].map(() => ({ onmessage: null }));
  channels.forEach((channel, index) => {
    channel.postMessage = (data) => channels[1 - index].onmessage?.({ data });
  });
  let isHeld = Promise.resolve();
  const exclusive = (work) => {
    isHeld = isHeld.then(work);
    return isHeld;
  };
  const [one, two] = channels.map((channel) => makeOutbox({ store, channel, exclusive }));
  server.isCut = true;
  one.add({ uuid: "a" });
  two.add({ uuid: "b" });
  await settle();
  assert.deepEqual(one.waiting.map(({ uuid }) => uuid).sort(), ["a", "b"]);
  assert.deepEqual(two.waiting.map(({ uuid }) => uuid).sort(), ["a", "b"]);
  server.isCut = false;
  one.flush();
  two.flush();
  await settle();
  assert.deepEqual([...server.order].sort(), ["a", "b"]);
  assert.equal(one.state, "saved");
  assert.equal(two.state, "saved");
});

test("an answer added while another is on its way is neither forgotten nor counted away", async () => {
  let letGo;
  const store = new MemoryStore();
  const put = store.put.bind(store);
  store.put = async (record) => {
    if (record.uuid === "b") await new Promise((resolve) => (letGo = resolve));
    await put(record);
  };
  const outbox = makeOutbox({ store });
  outbox.add({ uuid: "a" });
  outbox.add({ uuid: "b" }); // the store is slow with this one
  await outbox.flush();
  assert.ok(outbox.waiting.every(({ uuid }) => uuid === "b") || server.known.has("b"));
  letGo();
  await settle();
  assert.deepEqual([...server.order].sort(), ["a", "b"]);
  assert.equal(outbox.state, "saved");
});

test("an answer on its way into the store is not forgotten when another tab changes something", async () => {
  const store = new MemoryStore();
  store.put = () => new Promise(() => {}); // a slow disk
  const channel = { postMessage: () => {} };
  const outbox = makeOutbox({ store, channel });
  outbox.add({ uuid: "a" });
  channel.onmessage({ data: { kind: "changed" } });
  await settle();
  assert.deepEqual(outbox.waiting.map(({ uuid }) => uuid), ["a"]);
});

test("a late look into the store brings back nothing that has arrived", async () => {
  const store = new MemoryStore();
  const channel = { postMessage: () => {} };
  const outbox = makeOutbox({ store, channel });
  server.isCut = true;
  outbox.add({ uuid: "a" });
  await settle();
  const before = await store.all();
  server.isCut = false;
  await pass(DELAYS_MS[0]);
  store.all = async () => before;
  channel.onmessage({ data: { kind: "changed" } });
  await settle();
  assert.equal(outbox.state, "saved");
});

/** What a browser's localStorage does. */
function makeStorage() {
  const cells = new Map();
  return {
    get length() {
      return cells.size;
    },
    key: (i) => [...cells.keys()][i],
    getItem: (key) => cells.get(key) ?? null,
    setItem: (key, value) => cells.set(key, value),
    removeItem: (key) => cells.delete(key),
  };
}

test("localStorage keeps one person's answers apart from another's", async () => {
  const storage = makeStorage();
  const mine = new LocalStore("answers.1", storage);
  const theirs = new LocalStore("answers.11", storage);
  await mine.put({ uuid: "a" });
  await theirs.put({ uuid: "b" });
  assert.deepEqual(await mine.all(), [{ uuid: "a" }]);
  await mine.remove(["a", "b"]);
  assert.deepEqual(await theirs.all(), [{ uuid: "b" }]);
});

test("a record is kept while the store is still writing it, and noted no longer after", async () => {
  const journal = new LocalStore("answers.1.journal", makeStorage());
  const store = new MemoryStore();
  const write = store.put.bind(store);
  let written;
  store.put = (record) => new Promise((resolve) => {
    written = () => write(record).then(resolve);
  });
  const put = new JournaledStore(store, journal).put({ uuid: "a", sequence: 1 });
  const reopened = new JournaledStore(store, journal); // the tab has closed; here is the next page
  assert.deepEqual(await reopened.all(), [{ uuid: "a", sequence: 1 }]);
  written();
  await put;
  assert.deepEqual(await journal.all(), []);
  assert.deepEqual(await reopened.all(), [{ uuid: "a", sequence: 1 }]);
  await reopened.remove(["a"]);
  assert.deepEqual(await reopened.all(), []);
});

test("a record without room for its note is still stored", async () => {
  const storage = makeStorage();
  storage.setItem = () => {
    throw new Error("QuotaExceededError");
  };
  const store = new MemoryStore();
  await new JournaledStore(store, new LocalStore("answers.1.journal", storage)).put({ uuid: "a" });
  assert.deepEqual(await store.all(), [{ uuid: "a" }]);
});

test("another tab hears what is answered, even if it has been sent and is gone by then", async () => {
  const messages = [];
  const store = new MemoryStore();
  const mine = makeOutbox({ store, channel: { postMessage: (message) => messages.push(message) } });
  const heard = [];
  const channel = { postMessage: () => {} };
  makeOutbox({ store, channel, onAddedElsewhere: (body) => heard.push(body) });
  await mine.add({ uuid: "a", question: "u1" });
  await settle();
  assert.deepEqual(await store.all(), []);
  for (const data of messages) channel.onmessage({ data });
  assert.deepEqual(heard, [{ uuid: "a", question: "u1" }]);
});
