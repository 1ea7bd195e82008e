/* A judge's answers about templates or triplets: what is sent of them, and taking them back. */
import { makeUuid } from "../lib/uuid.js";

export class Session {
  /** `line` holds the questions, `outbox` keeps what is sent, `now` is a steady clock. */
  constructor({ line, outbox, now, newUuid = makeUuid }) {
    Object.assign(this, { line, outbox, now, newUuid });
  }

  /** Answer the question in front; `place` says which picture was picked. */
  answer(choice, { place, device, shownAt }) {
    const { uid } = this.line.current();
    this.#send({ question: uid, choice, ...(choice === "pick" ? { place } : {}) }, device, shownAt);
    this.line.answered();
  }

  /** Take the last answer back, so that its question is in front again; false if there is none. */
  undo({ device }) {
    const question = this.line.back();
    if (!question) return false;
    this.#send({ question: question.uid, choice: "withdrawn" }, device, this.now());
    return true;
  }

  #send(body, device, shownAt) {
    const times = { shown_at: iso(shownAt), decided_at: iso(Math.max(this.now(), shownAt)) };
    this.outbox.add({ uuid: this.newUuid(), ...body, device, ...times });
  }
}

const iso = (moment) => new Date(moment).toISOString();
