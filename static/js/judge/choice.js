/* Choice mode: an image, and others of which one is picked. */
import { addressOf, picturesOf } from "./pictures.js";
import { QuestionView } from "./question_view.js";
import { fill, gettext } from "../lib/words.js";
import { pickOf } from "./words.js";

export class ChoiceView extends QuestionView {
  mode = "choice";
  #chosen = 0; // the picture that the arrows are on

  /**
   * @param parts as of all views, with `pickKeys`, a letter for each picture, and `isMovedIn`,
   *   whether arrows move from one to another; else there are a left and a right one.
   */
  constructor(root, parts) {
    super(root, parts);
    this.reference = root.querySelector('[data-frame="reference"]');
    this.parts = Object.fromEntries([...root.querySelectorAll("[data-choice]")].map((part) => [part.dataset.choice, part]));
  }

  /** Show a question; it can be answered when all its pictures are seen. */
  show(question) {
    if (!this.turnTo(question)) return;
    const { condition, respect, images } = this.parts;
    condition.textContent = question.condition;
    if (respect) respect.hidden = !question.condition;
    this.reference.replaceChildren();
    this.reference.classList.add("is-waiting");
    images.replaceChildren(...question.images.map((key, place) => this.#tile(key, place)));
    this.#chosen = 0;
    this.#mark();
    this.lookAgain();
  }

  get urls() {
    return picturesOf(this.question);
  }

  get frames() {
    return [this.reference, ...this.parts.images.querySelectorAll(".frame")];
  }

  /** The answer that picks the picture at a place; null if there is none. */
  answerAt(place) {
    const key = this.question?.images[place];
    return key === undefined ? null : pickOf(key);
  }

  /** Move the focus to the next picture that way; the first move only shows where it is. */
  move(way) {
    const tiles = this.#tiles;
    if (!tiles.length) return;
    const n_columns = tiles.filter((tile) => tile.offsetTop === tiles[0].offsetTop).length;
    const step = { left: -1, right: 1, up: -n_columns, down: n_columns }[way];
    if (tiles.includes(document.activeElement) && tiles[this.#chosen + step]) this.#chosen += step;
    this.#mark();
    tiles[this.#chosen].focus();
  }

  get #tiles() {
    return [...this.parts.images.children];
  }

  /** Let Tab reach one picture, the one that the arrows are on; all where arrows do not move. */
  #mark() {
    this.#tiles.forEach((tile, place) => {
      tile.tabIndex = !this.isMovedIn || place === this.#chosen ? 0 : -1;
    });
  }

  put(index) {
    const frame = this.frames[index];
    if (frame.firstElementChild) return;
    const image = new Image();
    const key = index === 0 ? this.question.reference : this.question.images[index - 1];
    image.src = this.shelf.source(index === 0 ? addressOf(this.question, key, "view") : addressOf(this.question, key));
    image.alt = index === 0 ? gettext("Reference") : this.#name(index - 1);
    image.draggable = false;
    frame.replaceChildren(image);
  }

  #name(place) {
    if (this.isMovedIn) return fill(gettext("Image {n}"), { n: place + 1 });
    return place === 0 ? gettext("Left image") : gettext("Right image");
  }

  #tile(key, place) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "choice-tile";
    button.dataset.pick = place;
    button.dataset.picture = key;
    button.setAttribute("aria-label", this.#name(place));
    const frame = document.createElement("span");
    frame.className = "frame";
    button.append(frame);
    if (this.pickKeys[place]) {
      const letter = document.createElement("kbd");
      letter.textContent = this.pickKeys[place].toUpperCase();
      button.append(letter);
    }
    return button;
  }
}

/** Stands where pairs have their sheet: a choice has none. */
export const NO_SHEET = {
  root: { hidden: true },
  questions: [],
  has: () => false,
  hide() {},
  mark() {},
};
