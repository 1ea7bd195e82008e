import assert from "node:assert/strict";
import { test } from "node:test";

import { SendError } from "../../static/js/lib/outbox.js";
import { QuestionQueue } from "../../static/js/judge/queue.js";
import { Supply } from "../../static/js/judge/supply.js";
import { question } from "./questions.js";

/** A supply whose server gives these replies in turn, the last one again and again. */
function supplied(...replies) {
  const queue = new QuestionQueue();
  const heard = [];
  const api = {
    n_asked: 0,
    async next(after) {
      const { questions = [], ...reply } = replies[Math.min(api.n_asked, replies.length - 1)];
      api.n_asked += 1;
      return { state: "open", ...reply, questions: questions.filter(({ position }) => position > after) };
    },
  };
  const outbox = { waiting: [], async flush() {} };
  const supply = new Supply({ api, queue, outbox, shelf: null, onReply: (reply) => heard.push(reply), onTrouble() {} });
  return { supply, queue, api, heard };
}

test("a server that has nothing is asked again after a while, and not before", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { supply, api, heard, queue } = supplied({ is_waiting: true }, { questions: [question(1)] });
  await supply.fill();
  for (let i = 0; i < 5; i += 1) await supply.fill(); // after every paint
  assert.equal(api.n_asked, 1);
  assert.equal(heard[0].is_waiting, true);
  context.mock.timers.tick(19_000);
  assert.equal(api.n_asked, 1);
  context.mock.timers.tick(1_000);
  assert.equal(api.n_asked, 2);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(queue.length, 1);
});

test("a closed campaign is not asked again", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { supply, api } = supplied({ state: "closed" });
  await supply.fill();
  context.mock.timers.tick(100_000);
  assert.equal(api.n_asked, 1);
});

test("a count that is older than an answer given meanwhile is not shown", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { supply, heard } = supplied({ progress: { n_done: 3, n_total: 9 } });
  const { outbox } = supply;
  const { next } = supply.api;
  supply.api.next = async () => {
    outbox.last = 1; // answered while the server counted
    return next();
  };
  await supply.fill();
  assert.equal(heard[0].progress, null);
});

test("a count that is older than answers on their way is not shown, though they arrive before it", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { supply, heard } = supplied({ progress: { n_done: 9, n_total: 9 } });
  const { outbox } = supply;
  const { next } = supply.api;
  outbox.waiting = [{}, {}, {}, {}]; // four are being taken back
  supply.api.next = async () => {
    outbox.waiting = [];
    return next();
  };
  await supply.fill();
  assert.equal(heard[0].progress, null);
});

/** A supply with questions 5 to 9 waiting, whose server then gives a reply to the next request. */
async function holding(reply) {
  const told = supplied({ questions: [5, 6, 7, 8, 9].map((at) => question(at)) }, reply);
  await told.supply.fill();
  told.asked = [];
  const { next } = told.api;
  told.api.next = (...place) => {
    told.asked.push(place);
    return next(...place);
  };
  return told;
}

const uids = (queue) => queue.ahead(99).map(({ uid }) => uid);

test("after a break, what is the judge's no more is dropped and what was lent instead comes behind", async () => {
  const { supply, queue, asked } = await holding({ questions: [6, 8, 21].map((at) => question(at)) });
  queue.putBack(question(3)); // an answer was taken back
  assert.equal(await supply.renew(), 4);
  assert.deepEqual(asked, [[0, 20]]);
  assert.deepEqual(uids(queue), ["u6", "u8", "u21"]);
});

const between = (first, last) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

test("after a break, of what lies behind a full reply nothing is known", async () => {
  const reply = { questions: [...between(1, 13).map((at) => at / 20), ...between(1, 5), 7, 8].map((at) => question(at)) };
  const { supply, queue } = await holding(reply);
  assert.equal(await supply.renew(), 1);
  assert.deepEqual(uids(queue), ["u5", "u7", "u8", "u9"]);
});

test("after a break, what has new places because others were mixed in is kept", async () => {
  const moved = (at, position) => ({ ...question(at), position });
  const mixed = between(101, 118).map((at) => question(at));
  const reply = { questions: [...mixed, moved(5, 119), moved(7, 120)] }; // 8 and 9 come behind
  const { supply, queue } = await holding(reply);
  assert.equal(await supply.renew(), 1);
  assert.deepEqual(uids(queue).slice(0, 4), ["u5", "u7", "u8", "u9"]);
  assert.equal(queue.length, 22);
  queue.remove("u5"); // its answer is on its way: it is not asked again from its new place
  queue.push([moved(5, 119)]);
  assert.equal(queue.has("u5"), false);
});

test("what the judge does while the server is asked after a break is not undone by its reply", async () => {
  const { supply, queue, heard } = await holding({ questions: [], progress: { n_done: 1, n_total: 9 } });
  const { next } = supply.api;
  supply.api.next = async (...place) => {
    supply.outbox.last = 1;
    queue.putBack(question(3)); // an answer is taken back
    return next(...place);
  };
  assert.equal(await supply.renew(), 0);
  assert.equal(queue.length, 6);
  assert.equal(heard.at(-1).progress, null);
});

test("what was wanted while the server was asked after a break is asked for then", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { supply, queue, asked } = await holding({ questions: [5, 6, 7, 8, 9].map((at) => question(at)) });
  const renewed = supply.renew();
  for (const uid of uids(queue)) queue.remove(uid);
  await supply.fill(); // is put off
  await renewed;
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(asked.length > 1);
});

test("what was put off does not come to the front after a break", async () => {
  const { supply, queue } = await holding({ questions: [6, 7, 8, 9].map((at) => question(at)) });
  queue.remove("u5", { isFinal: false }); // asked again later
  queue.remove("u6");
  assert.equal(await supply.renew(), 0);
  assert.deepEqual(uids(queue), ["u7", "u8", "u9"]);
});

for (const [why, reply] of [["paused", { state: "paused" }], ["to be read first", { must_read: true }]]) {
  test(`a campaign that is ${why} takes nothing away after a break`, async () => {
    const { supply, queue, heard } = await holding(reply);
    assert.equal(await supply.renew(), 0);
    assert.equal(queue.length, 5);
    assert.equal(heard.length, 2);
  });
}

test("without network, or with answers on their way, nothing is dropped", async () => {
  const offline = await holding({});
  offline.api.next = async () => {
    throw new SendError("offline");
  };
  assert.equal(await offline.supply.renew(), 0);
  const busy = await holding({ questions: [] });
  busy.supply.outbox.waiting = [{}];
  assert.equal(await busy.supply.renew(), 0);
  assert.deepEqual([offline.queue.length, busy.queue.length, busy.asked.length], [5, 5, 0]);
});
