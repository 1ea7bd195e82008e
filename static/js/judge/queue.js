/* The questions that wait on this page, in the order in which the server put them. */

export const ASK_N = 20; // no more is given: a judge is not to see far ahead
export const LOW_WATER = 14;
export const SHEET_MAX = 48;

export class QuestionQueue {
  #items = [];
  #answered = new Map(); // uid -> place of those with a final answer, known to the server or not
  #lowWater = LOW_WATER;

  constructor() {
    this.after = 0; // the last place that was fetched
  }

  get length() {
    return this.#items.length;
  }

  get head() {
    return this.#items[0] ?? null;
  }

  /** Whether it is time to ask the server for more. */
  get isLow() {
    return this.#items.length <= this.#lowWater;
  }

  ahead(n) {
    return this.#items.slice(0, n);
  }

  has(uid) {
    return this.#items.some((question) => question.uid === uid);
  }

  isAnswered(uid) {
    return this.#answered.has(uid);
  }

  /** Take in what the server sent for `n_asked`; returns how many were new. */
  push(questions, n_asked = ASK_N) {
    const known = new Set(this.#items.map((question) => question.uid));
    // what comes behind the place where it was answered is asked anew
    const isOpen = ({ uid, position }) => position > (this.#answered.get(uid) ?? -1);
    const fresh = questions.filter((question) => !known.has(question.uid) && isOpen(question));
    for (const { uid } of fresh) this.#answered.delete(uid);
    this.#items.push(...fresh);
    for (const { position } of questions) this.after = Math.max(this.after, position);
    // a short reply means that there is no more for now: ask again when half of it is used
    const isShort = questions.length < n_asked / 2;
    this.#lowWater = isShort ? Math.floor(this.#items.length / 2) : LOW_WATER;
    return fresh.length;
  }

  /**
   * Drop what `questions` prove to be the judge's no more: they are the first open ones, at most
   * `n_asked`. Of what may stand behind the last of a full reply nothing is said.
   * @returns how many were dropped.
   */
  keep(questions, n_asked = ASK_N) {
    const places = new Map(questions.map(({ uid, position }) => [uid, position]));
    const known = this.#items.filter(({ uid }) => places.has(uid));
    // where others were mixed in, what waits has new places, in the order of before
    const isMoved = known.some(({ uid, position }) => position !== places.get(uid));
    const told = (isMoved ? known : questions).map(({ position }) => position);
    const last = questions.length < n_asked ? Infinity : Math.max(...told);
    const before = this.#items.length;
    this.#items = this.#items.filter(({ uid, position }) => places.has(uid) || position > last);
    const n_gone = before - this.#items.length;
    for (const item of known) item.position = places.get(item.uid);
    const fresh = questions.filter(({ position }) => position > this.after);
    this.push(fresh, n_asked - (questions.length - fresh.length));
    return n_gone;
  }

  /** Take a question out; with a final answer it is not taken in again. */
  remove(uid, { isFinal = true } = {}) {
    const place = this.#items.find((question) => question.uid === uid)?.position ?? Infinity;
    this.#items = this.#items.filter((question) => question.uid !== uid);
    if (isFinal) this.#answered.set(uid, place);
  }

  /** Forget what waits: nothing more is to be asked, or only later, from the start. */
  clear() {
    this.#items = [];
    this.after = 0;
  }

  /** Put a question back to the front, because its answer was taken back. */
  putBack(question) {
    this.#answered.delete(question.uid);
    this.#items = [question, ...this.#items.filter(({ uid }) => uid !== question.uid)];
  }

  /** Forget that a question was answered (its answer was taken back in another tab). */
  reopen(uid) {
    this.#answered.delete(uid);
  }

  /** The questions at the front that ask about the same query, at most a sheet full. */
  group() {
    const query = this.head?.query.url;
    const end = this.#items.findIndex((question) => question.query.url !== query);
    return this.#items.slice(0, Math.min(end < 0 ? this.#items.length : end, SHEET_MAX));
  }

  /** Whether the front group may go on behind what has been fetched. */
  get isGroupOpen() {
    const group = this.group();
    return group.length === this.#items.length && group.length < SHEET_MAX;
  }

  /** The next group behind the front one, for looking ahead. */
  groupAfter() {
    const first = this.group().length;
    const query = this.#items[first]?.query.url;
    const rest = this.#items.slice(first);
    const end = rest.findIndex((question) => question.query.url !== query);
    return rest.slice(0, Math.min(end < 0 ? rest.length : end, SHEET_MAX));
  }
}
