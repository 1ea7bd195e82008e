/* Keeps questions and their pictures ahead of the judge. Knows no document. */
import { SendError } from "../lib/outbox.js";
import { picturesOf } from "./pictures.js";
import { ASK_N } from "./queue.js";

const FETCHED_PAIRS = 20; // their bytes are held, so that a short loss of the network is none
const DECODED_PAIRS = 10;
const CHECK_N = 20; // after so many answers, hear of pauses and new guidelines at the latest
const RETRY_MS = 3000;
const PAUSED_MS = 15_000;
const NOTHING_MS = 20_000; // pairs come back from other judges, or are added

export class Supply {
  #isAsking = false;
  #timer = null;
  #n_answers = 0;

  /**
   * @param parts.onReply (reply) => void; after each reply, with the queue already filled.
   * @param parts.onTrouble (words) => void; when the server cannot be reached.
   */
  constructor({ api, queue, outbox, shelf, onReply, onTrouble }) {
    Object.assign(this, { api, queue, outbox, shelf, onReply, onTrouble });
    this.isDry = false; // the server has nothing more for this judge, as of the last reply
  }

  /** Count an answer; every now and then that is a reason to ask the server. */
  noteAnswer() {
    this.#n_answers += 1;
  }

  /** Ask for more questions if few are left, or if the server was not heard for a while. */
  async fill() {
    const isDue = this.#n_answers >= CHECK_N;
    if (this.#isAsking || !(this.queue.isLow || isDue)) return;
    if (this.isDry && !isDue) return;
    this.#isAsking = true;
    this.#n_answers = 0;
    clearTimeout(this.#timer);
    try {
      await this.#ask();
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      this.onTrouble(error.message);
      this.#again(RETRY_MS);
    } finally {
      this.#isAsking = false;
    }
  }

  async #ask() {
    const { after } = this.queue;
    // answers on their way still count among what the server shows ahead
    const n_free = ASK_N - this.queue.length - this.outbox.waiting.length;
    if (n_free < 1 && this.queue.length > 0) return;
    const n_asked = Math.max(1, n_free);
    const { last, waiting } = this.outbox;
    const reply = await this.api.next(after, n_asked);
    // the server may have counted before it heard of what was done meanwhile, or was on its way
    if (this.outbox.last !== last || waiting.length > 0) reply.progress = null;
    const n_new = this.queue.push(reply.questions, n_asked);
    this.isDry = n_new === 0;
    if (this.queue.length === 0 && reply.state === "open" && after > 0) {
      // what was put off, or came back, stands in front of where we are: once all is saved, look
      await this.outbox.flush();
      if (this.outbox.waiting.length > 0) {
        this.onReply({ ...reply, isWaiting: true });
        return;
      }
      this.queue.after = 0;
      await this.#ask();
      return;
    }
    this.onReply(reply);
    if (reply.state === "paused") this.#again(PAUSED_MS);
    else if (reply.state === "open" && this.queue.length === 0) this.#again(NOTHING_MS);
  }

  /**
   * After an absence: keep what is still the judge's; what is lent the server lends anew.
   * @returns how many of the questions that waited are dropped; 0 if the server is not heard, or if
   *   the judge does something meanwhile.
   */
  async renew() {
    if (this.#isAsking || this.queue.length === 0) return 0;
    this.#isAsking = true;
    try {
      await this.outbox.flush();
      if (this.outbox.waiting.length > 0 || this.queue.length === 0) return 0;
      const { last } = this.outbox;
      const reply = await this.api.next(0, ASK_N); // the server looks no further than its first ones
      if (this.outbox.last !== last) {
        this.onReply({ ...reply, progress: null }); // older than what was done meanwhile
        return 0;
      }
      if (reply.state !== "open" || reply.must_read) {
        this.onReply(reply);
        return 0;
      }
      const n_gone = this.queue.keep(reply.questions);
      this.onReply(reply);
      return n_gone;
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      return 0; // offline: what is answered is kept, and counts while there is room
    } finally {
      this.#isAsking = false;
      this.fill();
    }
  }

  #again(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.isDry = false;
      this.fill();
    }, delay);
  }

  /**
   * Tell the shelf what is wanted: the next pairs in pair mode, the next sheets in sheet mode.
   * @param recent answered questions that may be taken back.
   * @param shown what the sheet on screen holds, answered or not.
   */
  wantPictures(mode, recent, shown = []) {
    const ahead = this.queue.ahead(FETCHED_PAIRS);
    const back = recent.flatMap(({ question }) => picturesOf(question));
    let soon;
    let later;
    if (mode === "pair") {
      soon = ahead.slice(0, DECODED_PAIRS).flatMap(picturesOf);
      later = ahead.slice(DECODED_PAIRS).flatMap(picturesOf);
    } else {
      const sheets = [...shown, ...this.queue.group(), ...this.queue.groupAfter()];
      soon = sheets.flatMap(({ query, candidate }) => [query.url, candidate.thumb_url]);
      later = ahead.flatMap(({ query, candidate }) => [query.url, candidate.thumb_url, candidate.url]);
    }
    const near = [...new Set(soon)];
    this.shelf.want([...near, ...back, ...later], near.length);
  }

  /** How many of the next pairs can be shown without waiting. */
  get n_ready() {
    const ahead = this.queue.ahead(DECODED_PAIRS);
    const urls = ahead.flatMap(picturesOf);
    return Math.floor((this.shelf.readyAhead(urls) * ahead.length) / Math.max(1, urls.length));
  }
}
