/*
 * What a judge does on this page: answers, takes back, answers again. Knows no document.
 *
 * Each act becomes one body in the outbox, in order; the queue and the history follow at once.
 */

import { makeUuid } from "../lib/uuid.js";

const UNFINISHED = new Set(["later", "withdrawn"]);
const NO_VOTES = new Set(["cant_tell", "skip"]);

/** Whether an answer, of any kind of task, settles its question; undefined is none. */
export const isFinal = (answer) => Boolean(answer) && !UNFINISHED.has(answer);

/** Whether an answer counts. */
export const isVote = (answer) => isFinal(answer) && !NO_VOTES.has(answer);

export const STRIP_N = 20;

export class Session {
  #history = []; // the latest last: {uuid, question, answer, reason}
  #seen = new Set(); // uuids of acts that this page has taken into account
  #undone = new Set(); // uuids of answers taken back here, whether or not the server has heard
  #elsewhere = new Set(); // uids of questions that another tab has done something about

  /**
   * @param {object} parts
   * @param parts.queue a QuestionQueue.
   * @param parts.outbox an Outbox.
   * @param parts.progress {n_done, n_total} as the server counts.
   * @param parts.now () => steady milliseconds since 1970.
   */
  constructor({ queue, outbox, progress, guidelineVersion, now, newUuid = makeUuid }) {
    Object.assign(this, { queue, outbox, guidelineVersion, now, newUuid });
    this.progress = { ...progress };
  }

  /** Answers given on this page and the last ones before it, the latest last. */
  get history() {
    return this.#history;
  }

  /** The latest answers first, for the strip. */
  get strip() {
    return this.#history.slice(-STRIP_N).reverse();
  }

  answerOf(uid) {
    return this.#history.findLast((entry) => entry.question.uid === uid) ?? null;
  }

  /**
   * Put answers of before in front of the history; the newest come first. What they say may be
   * older than what was done since.
   */
  remember(answers) {
    const known = new Set([...this.#elsewhere, ...this.#history.map((entry) => entry.question.uid)]);
    const undone = new Set([...this.#undone, ...this.outbox.waiting.map(({ body }) => body.undoes)]);
    const older = answers
      .filter((entry) => entry.is_current && !known.has(entry.question.uid))
      .filter((entry) => !undone.has(entry.uuid))
      .map(({ uuid, question, answer, reason }) => ({ uuid, question, answer, reason }))
      .reverse();
    this.#history = [...older, ...this.#history];
  }

  /** Take over what an earlier page has left in the outbox. */
  resume(records) {
    for (const { body, shown } of records) {
      this.#seen.add(body.uuid);
      if ("comment" in body) continue;
      if (!shown?.question) continue;
      if (body.answer === "withdrawn") this.#forget(body.undoes);
      else this.#keep({ ...body, question: shown.question });
      this.queue.remove(body.question, { isFinal: isFinal(body.answer) });
      this.#count(body.answer, shown.before ?? null);
    }
  }

  /**
   * Record an answer about `question`, and return its UUID.
   * @param act {answer, reason, mode, device, shownAt, visibleMs, loadMs}; times in milliseconds.
   */
  answer(question, act) {
    const before = this.answerOf(question.uid)?.answer ?? null;
    const body = this.#body(question, act, null);
    this.queue.remove(question.uid, { isFinal: isFinal(act.answer) });
    this.#keep({ ...body, question });
    this.#count(act.answer, before);
    this.#send(body, question, before);
    return body.uuid;
  }

  /** Take back the latest answer; returns its question, or null when there is none. */
  undo(act) {
    const last = this.#history.at(-1);
    return last ? this.takeBack(last.uuid, act) : null;
  }

  /** Take back one answer of the history; its question comes to the front of the queue. */
  takeBack(uuid, act) {
    const entry = this.#history.find((kept) => kept.uuid === uuid);
    if (!entry) return null;
    const { question } = entry;
    this.#forget(uuid);
    this.queue.putBack(question);
    if (this.outbox.parked.some((record) => record.uuid === uuid)) {
      this.outbox.discard(uuid); // the server neither took nor counted it
      return question;
    }
    this.#count("withdrawn", entry.answer);
    const done = { answer: "withdrawn", reason: "", shownAt: this.now(), visibleMs: 0, loadMs: 0 };
    this.#send(this.#body(question, { ...act, ...done }, uuid), question, entry.answer);
    return question;
  }

  /** Send a comment on `question`, or a flag where the text is empty; returns its UUID. */
  comment(question, text) {
    return this.#sendComment(question, { comment: text, withdraws: null });
  }

  /** Take back a comment, if no admin has replied yet. */
  withdrawComment(question, uuid) {
    if (this.outbox.parked.some((record) => record.uuid === uuid)) this.outbox.discard(uuid);
    else this.#sendComment(question, { comment: "", withdraws: uuid });
  }

  #sendComment(question, about) {
    const made_at = new Date(this.now()).toISOString();
    const body = { uuid: this.newUuid(), question: question.uid, made_at, ...about };
    this.#seen.add(body.uuid);
    this.outbox.add(body, { question });
    return body.uuid;
  }

  /** Follow what other tabs have done; returns the bodies that were new to this page. */
  follow(bodies) {
    const fresh = bodies.filter((body) => !("comment" in body || this.#seen.has(body.uuid)));
    for (const { uuid, question, answer } of fresh) {
      this.#seen.add(uuid);
      this.#elsewhere.add(question);
      this.#history = this.#history.filter((entry) => entry.question.uid !== question);
      if (answer === "withdrawn") this.queue.reopen(question);
      else this.queue.remove(question, { isFinal: isFinal(answer) });
    }
    return fresh;
  }

  /** Take over the server's count, once it knows all that we have done. */
  countedByServer(progress) {
    if (this.outbox.waiting.length === 0 && progress) this.progress = { ...progress };
  }

  #body(question, act, undoes) {
    const now = this.now();
    return {
      uuid: this.newUuid(),
      question: question.uid,
      answer: act.answer,
      reason: act.reason ?? "",
      mode: act.mode,
      device: act.device,
      guideline_version: this.guidelineVersion,
      shown_at: new Date(Math.min(act.shownAt, now)).toISOString(),
      decided_at: new Date(now).toISOString(),
      visible_ms: Math.max(0, Math.round(act.visibleMs)),
      load_ms: Math.max(0, Math.round(act.loadMs)),
      undoes,
    };
  }

  #send(body, question, before) {
    this.#seen.add(body.uuid);
    this.outbox.add(body, { question, before });
  }

  #keep({ uuid, question, answer, reason }) {
    this.#history = this.#history.filter((entry) => entry.question.uid !== question.uid);
    this.#history.push({ uuid, question, answer, reason });
  }

  #forget(uuid) {
    this.#undone.add(uuid);
    this.#history = this.#history.filter((entry) => entry.uuid !== uuid);
  }

  #count(answer, before) {
    const change = Number(isFinal(answer)) - Number(isFinal(before));
    this.progress.n_done = Math.max(0, this.progress.n_done + change);
  }
}
