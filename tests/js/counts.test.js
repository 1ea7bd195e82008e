/* Whatever is lost, late or done in two tabs: in the end the page counts as a recount does. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Outbox, SendError } from "../../static/js/lib/outbox.js";
import { MemoryStore } from "../../static/js/lib/stores.js";
import { QuestionQueue } from "../../static/js/judge/queue.js";
import { Session, isFinal } from "../../static/js/judge/session.js";
import { Supply } from "../../static/js/judge/supply.js";
import { question } from "./questions.js";

const N = 40;
const ACT = { reason: "", mode: "pair", device: "keyboard", shownAt: 0, visibleMs: 0, loadMs: 0 };

/** Numbers from 0 to 1 that are the same for a seed. */
function chance(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** What the server keeps of one judge: each question is a register, as in answering/register.py. */
class Server {
  registers = new Map();
  known = new Set();

  get progress() {
    const n_done = [...this.registers.values()].filter(({ answer }) => isFinal(answer)).length;
    return { n_done, n_total: N };
  }

  take(bodies) {
    const results = bodies.map(({ uuid, question: uid, answer, undoes }) => {
      if (this.known.has(uuid)) return { uuid, status: "duplicate" };
      if (undoes && this.registers.get(uid)?.uuid !== undoes) {
        return { uuid, status: "rejected", code: "not_current", message: "" };
      }
      this.known.add(uuid);
      this.registers.set(uid, { uuid, answer });
      return { uuid, status: "saved" };
    });
    return { results, progress: this.progress };
  }

  next(after) {
    const open = Array.from({ length: N }, (_, i) => question(i + 1)).filter(
      ({ uid, position }) => position > after && !isFinal(this.registers.get(uid)?.answer),
    );
    return { state: "open", progress: this.progress, questions: open.slice(0, 20) };
  }
}

/** A judge's tabs, whose requests are done at once, and whose replies come whenever `pass` says. */
class Browser {
  server = new Server();
  store = new MemoryStore();
  late = []; // replies and messages that have not arrived
  tabs = [];
  isCut = false;
  #lock = Promise.resolve();
  #n = 0;

  constructor(random) {
    this.random = random;
  }

  #request(work) {
    if (this.isCut) return Promise.reject(new SendError("No connection."));
    const reply = structuredClone(work()); // as the server stands now
    const isLost = this.random() < 0.1;
    return new Promise((resolve, reject) => {
      this.late.push({ arrive: () => (isLost ? reject(new SendError("It broke off.")) : resolve(reply)) });
    });
  }

  open() {
    const queue = new QuestionQueue();
    const channel = { onmessage: null, postMessage: (data) => this.#tell(channel, data) };
    const tab = { channel, queue };
    tab.outbox = new Outbox({
      store: this.store,
      channel,
      setTimer: () => null,
      clearTimer() {},
      exclusive: (work) => (this.#lock = this.#lock.then(work, work)),
      send: (bodies) => this.#request(() => this.server.take(bodies)),
      onReply: ({ progress }) => tab.session.countedByServer(progress),
      onAddedElsewhere: (body) => tab.session.follow([body]),
    });
    const newUuid = () => `act-${(this.#n += 1)}`;
    const progress = this.server.progress;
    tab.session = new Session({ queue, outbox: tab.outbox, progress, guidelineVersion: 1, now: () => Date.now(), newUuid });
    tab.outbox.subscribe(() => tab.session.follow(tab.outbox.waiting.map(({ body }) => body)));
    const api = { next: (after) => this.#request(() => this.server.next(after)) };
    const onReply = (reply) => tab.session.countedByServer(reply.progress);
    tab.supply = new Supply({ api, queue, outbox: tab.outbox, shelf: null, onReply, onTrouble() {} });
    this.tabs.push(tab);
  }

  #tell(from, data) {
    const message = { data: structuredClone(data) };
    for (const { channel } of this.tabs) {
      if (channel !== from) this.late.push({ channel, arrive: () => channel.onmessage(message) });
    }
  }

  /** Let some of what is under way arrive: requests in any order, messages before those asked later. */
  async pass(n) {
    await settle();
    for (let i = 0; i < n && this.late.length > 0; i += 1) {
      const chosen = this.late[this.random() < 0.6 ? 0 : Math.floor(this.random() * this.late.length)];
      const isNext = (one) => one === chosen || one.channel; // a message is quicker than what is asked after it
      const [{ arrive }] = this.late.splice(this.late.findIndex(isNext), 1);
      arrive();
      await settle();
    }
  }
}

async function settle() {
  for (let i = 0; i < 60; i += 1) await null;
}

for (let seed = 1; seed <= 100; seed += 1) {
  test(`history ${seed} is counted as a recount counts it`, async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const random = chance(seed);
    const browser = new Browser(random);
    browser.open();
    if (seed % 2) browser.open();
    for (const tab of browser.tabs) tab.supply.fill();
    for (let step = 1; step <= 80; step += 1) {
      const tab = browser.tabs[Math.floor(random() * browser.tabs.length)];
      const { session, queue, outbox, supply } = tab;
      const what = random();
      if (what < 0.6 && queue.head) {
        session.answer(queue.head, { ...ACT, answer: ["similar", "different", "later"][step % 3] });
        supply.noteAnswer();
      } else if (what < 0.75) for (let n = 0; n < 4; n += 1) session.undo(ACT); // the key is held
      else if (what < 0.8) browser.isCut = !browser.isCut;
      else if (what < 0.85) outbox.flush();
      supply.fill(); // as after every paint
      await browser.pass(Math.floor(random() * 4));
      if (step % 8 === 0) await agrees(browser);
    }
  });
}

/** Once all is heard, every tab counts what the server's registers come to. */
async function agrees(browser) {
  browser.isCut = false;
  const isWaiting = () => browser.late.length > 0 || browser.tabs.some(({ outbox }) => outbox.waiting.length > 0);
  for (let round = 0; round < 20 && (round === 0 || isWaiting()); round += 1) {
    for (const { outbox } of browser.tabs) if (outbox.waiting.length > 0) outbox.flush();
    await settle();
    await browser.pass(1000);
  }
  const { n_done } = browser.server.progress;
  for (const { session, outbox } of browser.tabs) {
    assert.equal(outbox.waiting.length, 0);
    assert.equal(session.progress.n_done, n_done);
  }
}
