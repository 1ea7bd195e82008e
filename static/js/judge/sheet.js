/* Sheet mode: the query pinned, its candidates in a grid; arrows move, keys answer. */
import { fill, gettext } from "../lib/words.js";
import { ANSWERS, markOf } from "./words.js";

const SHEET_MS = 800; // to take in a sheet at all ...
const CELL_MS = 150; // ... and each picture that is answered at once
const MOST_MS = 5000;
const LOOK_AGAIN_MS = 3000; // for pictures that did not come

export class SheetView {
  mode = "sheet";
  #cells = []; // {question, button, answer, isSeen}
  #index = 0;
  #actAt = 0;
  #actVisible = 0;
  #earlier = 0; // of that, until the last press that came too soon
  #queryUrl = null;
  #again = null; // the timer of the next look for pictures that did not come
  #observer;

  constructor(root, { shelf, visible, now, onPick }) {
    Object.assign(this, { root, shelf, visible, now, onPick });
    this.grid = root.querySelector("[data-sheet-grid]");
    this.queryFrame = root.querySelector("[data-sheet-query]");
    this.#observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const cell = this.#cells.find(({ button }) => button === target);
          if (cell && isIntersecting) cell.isSeen = true;
        }
      },
      { root: this.grid, threshold: 0.6 },
    );
    this.grid.addEventListener("click", (event) => {
      const index = this.#cells.findIndex(({ button }) => button === event.target.closest(".cell"));
      if (index < 0) return;
      if (index === this.#index) this.onPick(this.question);
      else this.#select(index);
    });
  }

  /** The question under the cursor. */
  get question() {
    return this.#cells[this.#index]?.question ?? null;
  }

  /** Whether both pictures of the question under the cursor can be seen. */
  get isReady() {
    return this.#hasQuery && this.#hasPicture(this.#index);
  }

  /** Questions of this sheet without an answer, whose pictures can be seen. */
  get open() {
    if (!this.#hasQuery) return [];
    return this.#cells
      .filter(({ answer }, index) => answer === null && this.#hasPicture(index))
      .map(({ question }) => question);
  }

  /** All questions of this sheet, answered or not. */
  get questions() {
    return this.#cells.map(({ question }) => question);
  }

  has(uid) {
    return this.#cells.some(({ question }) => question.uid === uid);
  }

  /**
   * Show a sheet.
   * @param questions still open, all with the same query.
   * @param answered [{question, answer}] of the same query, shown with their answer.
   */
  show(questions, answered) {
    this.root.hidden = false;
    const cells = [
      ...questions.map((question) => ({ question, answer: null })),
      ...answered.filter((entry) => !questions.some(({ uid }) => uid === entry.question.uid)),
    ].sort((a, b) => a.question.position - b.question.position);
    this.#observer.disconnect();
    this.#cells = cells.map(({ question, answer }, index) => this.#cell(question, answer, index));
    this.grid.replaceChildren(...this.#cells.map(({ button }) => button));
    for (const { button } of this.#cells) this.#observer.observe(button);
    this.#showQuery(questions[0].query.url);
    this.grid.scrollTop = 0;
    this.#index = 0;
    this.#select(Math.max(0, this.#cells.findIndex(({ answer }) => answer === null)));
    this.noteAct();
  }

  hide() {
    this.root.hidden = true;
    clearTimeout(this.#again);
    this.#again = null;
    this.#cells = [];
    this.grid.replaceChildren();
  }

  /** Time since the last act on this sheet, shared by `n` answers given at once. */
  timing(n = 1) {
    return {
      shownAt: this.#actAt,
      visibleMs: (this.visible.read() - this.#actVisible) / n,
      loadMs: 0,
    };
  }

  /** Whether `n` pairs could be looked at since the last act, or the last press that came too soon. */
  isTimeFor(n) {
    const least = Math.min(MOST_MS, SHEET_MS + CELL_MS * n);
    return this.visible.read() - this.#actVisible >= this.#earlier + least;
  }

  /** Begin to wait anew, because somebody has pressed before they could look. */
  noteEarly() {
    this.#earlier = this.visible.read() - this.#actVisible;
  }

  noteAct() {
    this.#earlier = 0;
    this.#actAt = this.now();
    this.#actVisible = this.visible.read();
  }

  /** Mark a question as answered, or open again with null. */
  mark(uid, answer) {
    const cell = this.#cells.find(({ question }) => question.uid === uid);
    if (!cell) return;
    cell.answer = answer;
    this.#dress(cell);
  }

  /** Go to the next question without an answer; false if there is none. */
  moveOn() {
    const n = this.#cells.length;
    for (let step = 1; step <= n; step += 1) {
      const index = (this.#index + step) % n;
      if (this.#cells[index].answer === null) {
        this.#select(index);
        return true;
      }
    }
    return false;
  }

  select(uid) {
    const index = this.#cells.findIndex(({ question }) => question.uid === uid);
    if (index >= 0) this.#select(index);
  }

  /** Move the cursor with an arrow key. */
  move(key) {
    const perRow = this.#perRow();
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -perRow, ArrowDown: perRow }[key];
    const index = this.#index + step;
    if (index >= 0 && index < this.#cells.length) this.#select(index);
  }

  /** Bring the first open candidate that was never in view into it; false if all were. */
  showUnseen() {
    const index = this.#cells.findIndex(({ answer, isSeen }) => answer === null && !isSeen);
    if (index < 0) return false;
    this.#select(index);
    return true;
  }

  #perRow() {
    const top = this.#cells[0]?.button.offsetTop;
    const next = this.#cells.findIndex(({ button }) => button.offsetTop !== top);
    return next < 0 ? this.#cells.length : next;
  }

  #select(index) {
    const before = this.#cells[this.#index];
    if (before) {
      before.button.removeAttribute("aria-current");
      before.button.tabIndex = -1;
    }
    this.#index = index;
    const { button } = this.#cells[index];
    button.setAttribute("aria-current", "true");
    button.tabIndex = 0;
    button.focus({ preventScroll: true });
    button.scrollIntoView({ block: "nearest" });
  }

  #cell(question, answer, index) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "cell";
    button.tabIndex = -1;
    const name = fill(gettext("Candidate {n}"), { n: index + 1 });
    const cell = { question, button, name, answer, isSeen: false };
    const url = question.candidate.thumb_url;
    const image = this.shelf.now(url);
    if (image && !image.isConnected) button.append(image);
    else this.#fill(cell);
    this.#dress(cell);
    return cell;
  }

  async #fill({ button, question }) {
    const url = question.candidate.thumb_url;
    const image = new Image();
    image.alt = "";
    image.draggable = false;
    try {
      await this.shelf.decoded(url);
      image.src = this.shelf.source(url);
      button.querySelector(".missing")?.remove();
      if (!button.querySelector("img")) button.prepend(image);
    } catch {
      if (button.querySelector(".missing")) return;
      const words = document.createElement("span");
      words.className = "missing";
      words.textContent = gettext("Picture missing");
      button.prepend(words);
    } finally {
      this.#lookAgainLater();
    }
  }

  /** Ask for the pictures that did not come; goes on by itself while the sheet is on screen. */
  lookAgain() {
    clearTimeout(this.#again);
    this.#again = null;
    if (this.root.hidden) return;
    this.#cells.forEach((cell, index) => this.#hasPicture(index) || this.#fill(cell));
    if (!this.#hasQuery) this.#showQuery(this.#queryUrl);
  }

  #lookAgainLater() {
    const isWhole = this.#hasQuery && this.#cells.every((_, index) => this.#hasPicture(index));
    if (isWhole || this.root.hidden) return;
    this.#again ??= setTimeout(() => this.lookAgain(), LOOK_AGAIN_MS);
  }

  #dress(cell) {
    const { button, name, answer } = cell;
    button.querySelector(".mark")?.remove();
    button.setAttribute("aria-label", answer ? `${name}: ${ANSWERS[answer].word}` : name);
    if (answer === null) {
      delete button.dataset.answer;
      return;
    }
    button.dataset.answer = answer;
    button.append(markOf(answer));
  }

  #hasPicture(index) {
    return this.#cells[index]?.button.querySelector("img") != null;
  }

  get #hasQuery() {
    return this.queryFrame.firstElementChild !== null;
  }

  async #showQuery(url) {
    if (this.#queryUrl === url && this.#hasQuery) return;
    this.#queryUrl = url;
    const image = new Image();
    image.alt = gettext("Query");
    image.draggable = false;
    this.queryFrame.replaceChildren();
    this.queryFrame.classList.remove("is-broken");
    this.queryFrame.classList.add("is-waiting");
    const isHere = await this.shelf.decoded(url).then(() => true, () => false);
    if (this.#queryUrl !== url) return; // another query is on its way
    this.queryFrame.classList.remove("is-waiting");
    this.queryFrame.classList.toggle("is-broken", !isHere);
    image.src = this.shelf.source(url);
    if (isHere) this.queryFrame.replaceChildren(image);
    else this.#lookAgainLater();
  }
}
