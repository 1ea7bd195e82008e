import assert from "node:assert/strict";
import { test } from "node:test";

import { QuestionQueue } from "../../static/js/judge/queue.js";
import { Supply } from "../../static/js/judge/supply.js";
import { question } from "./questions.js";

/** A supply whose server gives these replies in turn, the last one again and again. */
function supplied(...replies) {
  const queue = new QuestionQueue();
  const heard = [];
  const api = {
    n_asked: 0,
    async next() {
      const reply = replies[Math.min(api.n_asked, replies.length - 1)];
      api.n_asked += 1;
      return { state: "open", questions: [], ...reply };
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
