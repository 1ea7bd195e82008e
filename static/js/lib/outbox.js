/*
 * A durable outbox: what was given to `add` is sent until the server has said what became of it.
 *
 * The store is the truth, and it is shared by all tabs of the browser; only one tab sends at a
 * time (`exclusive`), and the others hear of it (`channel`). Sending the same record twice is
 * harmless, because the server knows records by their UUID. Refused records are parked, with the
 * server's reason, until a person decides about them.
 */
import { gettext } from "./words.js";

export const DELAYS_MS = [1000, 2000, 5000, 10_000, 20_000, 30_000];

/** What `send` throws: whether the same records may be accepted later, and what to tell. */
export class SendError extends Error {
  constructor(message, { isFinal = false } = {}) {
    super(message);
    this.isFinal = isFinal; // the request was malformed: sending it again is of no use
  }
}

export class Outbox {
  #records = new Map(); // what the store holds, as far as this tab knows
  #unstored = new Set(); // on their way into the store
  #gone = new Set(); // taken out of the store by this tab
  #listeners = new Set();
  #timer = null;
  #n_failures = 0;
  #lastSequence = 0;
  #current = null; // the flush under way
  #isAgain = false;

  /**
   * @param {object} parts
   * @param parts.store a store of lib/stores.js.
   * @param parts.send async (bodies) => {results: [{uuid, status, code, message}], ...}; throws
   *   SendError when the records did not get through.
   * @param parts.onReply called with each reply, in whichever tab it came.
   * @param parts.onAddedElsewhere called with each body that another tab adds, at once: it may be
   *   sent and gone before this tab has read the store.
   * @param parts.keeps codes of refusals that pass: the record stays and is sent again.
   * @param parts.exclusive async (work) => …; runs work while no other tab does.
   * @param parts.channel something like a BroadcastChannel, or null.
   */
  constructor({
    store,
    send,
    onReply = () => {},
    onAddedElsewhere = () => {},
    keeps = new Set(),
    exclusive = (work) => work(),
    channel = null,
    batchSize = 50,
    now = () => Date.now(),
    setTimer = (work, delay) => setTimeout(work, delay),
    clearTimer = (timer) => clearTimeout(timer),
  }) {
    Object.assign(this, { store, send, onReply, onAddedElsewhere, keeps, exclusive, channel, batchSize });
    Object.assign(this, { now, setTimer, clearTimer });
    this.problem = ""; // why the last attempt failed
    this.retryAt = null;
    this.isStored = true; // false once the store has refused a record
    if (channel) channel.onmessage = (event) => this.#hear(event.data);
  }

  /** Read what an earlier page or another tab has left. */
  async open() {
    await this.#reload();
    return this.waiting;
  }

  /** Records not yet accepted, in the order in which they were added. */
  get waiting() {
    return this.#sorted((record) => !record.parked);
  }

  /** Records that the server refused, each with `parked` = {code, message}. */
  get parked() {
    return this.#sorted((record) => record.parked);
  }

  /** Grows with each record that this tab adds, and with all that it hears of others. */
  get last() {
    return this.#lastSequence;
  }

  /** "saved", "saving" or "retrying". */
  get state() {
    if (this.waiting.length === 0) return "saved";
    return this.retryAt === null ? "saving" : "retrying";
  }

  /** Whether what waits outlives this page. */
  get isKept() {
    return this.isStored && this.store.isDurable;
  }

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Keep `body` (with its `uuid`) and send it. `shown` is kept beside it for whoever has to show
   * a refused record. Resolves when the record is on the disk.
   */
  async add(body, shown = null) {
    this.#grow();
    const record = { uuid: body.uuid, sequence: this.#lastSequence, body, shown, parked: null };
    const stored = this.#put(record);
    this.channel?.postMessage({ kind: "added", body });
    this.#tell();
    await stored;
    if (!this.isStored) this.#tell();
    if (this.retryAt === null) this.flush();
  }

  /** Send what waits; joins a flush that is under way. */
  flush() {
    this.#cancelRetry();
    if (this.#current) {
      this.#isAgain = true;
      return this.#current;
    }
    this.#current = this.exclusive(() => this.#sendAll()).finally(() => {
      this.#current = null;
      if (this.#isAgain && this.retryAt === null) this.flush();
      this.#isAgain = false;
    });
    return this.#current;
  }

  /** Send a refused record again. */
  async release(uuid) {
    const record = this.#records.get(uuid);
    if (!record) return;
    record.parked = null;
    await this.#put(record);
    this.#tell();
    await this.flush();
  }

  /** Let go of a refused record, because a person has said so. */
  async discard(uuid) {
    if (!this.#records.get(uuid)?.parked) return;
    await this.#remove([uuid]);
    this.channel?.postMessage({ kind: "changed" });
    this.#tell();
  }

  async #sendAll() {
    await this.#reload();
    let size = this.batchSize;
    for (;;) {
      const batch = this.waiting.slice(0, size);
      if (batch.length === 0) break;
      this.#tell();
      try {
        const reply = await this.send(batch.map((record) => record.body));
        const isAllTaken = await this.#apply(batch, reply);
        if (!isAllTaken) return this.#retryLater(gettext("The campaign takes no answers at the moment."));
      } catch (error) {
        if (!(error instanceof SendError)) throw error;
        if (!error.isFinal) return this.#retryLater(error.message);
        if (batch.length > 1) {
          size = 1; // one of them spoils the request: find it
          continue;
        }
        await this.#park(batch[0], { code: "malformed", message: error.message });
      }
    }
    this.#n_failures = 0;
    this.problem = "";
    this.#tell();
    return undefined;
  }

  /** Carry out a reply; false if some records have to be sent again later. */
  async #apply(batch, reply) {
    const results = new Map(reply.results.map((result) => [result.uuid, result]));
    const taken = [];
    let isAllTaken = true;
    for (const record of batch) {
      const result = results.get(record.uuid);
      if (result?.status === "saved" || result?.status === "duplicate") taken.push(record.uuid);
      else if (!result || this.keeps.has(result.code)) isAllTaken = false;
      else await this.#park(record, { code: result.code, message: result.message });
    }
    await this.#remove(taken);
    this.channel?.postMessage({ kind: "reply", reply });
    this.onReply(reply);
    this.#tell();
    return isAllTaken;
  }

  async #park(record, parked) {
    record.parked = parked;
    await this.#put(record);
    this.channel?.postMessage({ kind: "changed" });
    this.#tell();
  }

  async #put(record) {
    this.#records.set(record.uuid, record);
    this.#unstored.add(record.uuid);
    try {
      await this.store.put(record);
    } catch {
      this.isStored = false; // still in memory, and still sent
    }
    this.#unstored.delete(record.uuid);
  }

  async #remove(uuids) {
    for (const uuid of uuids) {
      this.#records.delete(uuid);
      this.#gone.add(uuid);
    }
    try {
      await this.store.remove(uuids);
    } catch {
      this.isStored = false; // at worst it is sent again, and is a duplicate
    }
  }

  /** Take over what the store holds; what this tab could not store stays in memory. */
  async #reload() {
    if (!this.isStored) return;
    try {
      const before = [...this.#records.keys()].filter((uuid) => !this.#unstored.has(uuid));
      const stored = new Map((await this.store.all()).map((record) => [record.uuid, record]));
      for (const uuid of before) {
        if (!stored.has(uuid)) this.#records.delete(uuid);
      }
      for (const [uuid, record] of stored) {
        if (!this.#gone.has(uuid) && !this.#unstored.has(uuid)) this.#records.set(uuid, record);
      }
    } catch {
      this.isStored = false;
    }
  }

  #retryLater(problem) {
    const delay = DELAYS_MS[Math.min(this.#n_failures, DELAYS_MS.length - 1)];
    this.#n_failures += 1;
    this.problem = problem;
    this.retryAt = this.now() + delay;
    this.#timer = this.setTimer(() => {
      this.flush();
    }, delay);
    this.#tell();
  }

  #cancelRetry() {
    if (this.#timer !== null) this.clearTimer(this.#timer);
    this.#timer = null;
    this.retryAt = null;
  }

  #grow() {
    this.#lastSequence = Math.max(this.now(), this.#lastSequence + 1);
  }

  async #hear(message) {
    this.#grow();
    if (message.kind === "added") this.onAddedElsewhere(message.body);
    await this.#reload();
    this.#grow();
    if (message.kind === "reply") this.onReply(message.reply);
    this.#tell();
  }

  #sorted(wanted) {
    return [...this.#records.values()].filter(wanted).sort((a, b) => a.sequence - b.sequence);
  }

  #tell() {
    for (const listener of this.#listeners) listener(this);
  }
}
