/* What all views of one question share: its pictures, when they were seen, and for how long. */
import { gettext } from "../lib/words.js";

const LOOK_AGAIN_MS = 3000; // for pictures that did not come

// What frames say whose pictures are not there: style sheets write it, and know one language.
const { style } = document.documentElement;
style.setProperty("--says-waiting", JSON.stringify(gettext("Loading the picture…")));
style.setProperty("--says-broken", JSON.stringify(gettext("This picture cannot be loaded. Skip it, or try again later.")));

export class QuestionView {
  question = null;
  isReady = false;
  #shownAt = 0;
  #askedAt = 0;
  #visibleAt = 0;
  #again = null; // the timer of the next look for pictures that did not come

  /** `visible` is a VisibleTime, `now` a steady clock, `shelf` an ImageShelf. */
  constructor(root, parts) {
    Object.assign(this, { root, ...parts });
  }

  /** Turn to a question whose pictures are yet to come; false if it is on screen already. */
  turnTo(question) {
    this.root.hidden = false;
    if (this.question?.uid === question.uid && this.isReady) return false;
    this.question = question;
    this.root.dataset.question = question.uid;
    delete this.root.dataset.ready;
    this.isReady = false;
    this.#askedAt = this.now();
    clearTimeout(this.#again);
    return true;
  }

  /** All pictures are on screen: from now on the question can be answered. */
  markReady() {
    this.isReady = true;
    this.root.dataset.ready = this.question.uid;
    this.#shownAt = this.now();
    this.#visibleAt = this.visible.read();
  }

  /** Ask for the pictures that are not on screen; goes on by itself until all have come. */
  async lookAgain() {
    const { question } = this;
    if (!question || this.isReady) return;
    clearTimeout(this.#again);
    const pictures = await Promise.allSettled(this.urls.map((url) => this.shelf.decoded(url)));
    if (this.question?.uid !== question.uid || this.isReady) return;
    pictures.forEach(({ status, value }, index) => {
      const frame = this.frames[index];
      frame.classList.remove("is-waiting");
      frame.classList.toggle("is-broken", status === "rejected");
      if (status === "fulfilled") this.put(index, value);
    });
    clearTimeout(this.#again);
    if (pictures.every(({ status }) => status === "fulfilled")) this.markReady();
    else this.#again = setTimeout(() => this.lookAgain(), LOOK_AGAIN_MS);
  }

  hide() {
    this.root.hidden = true;
    this.question = null;
    clearTimeout(this.#again);
  }

  /** When the question was shown, for how long it was looked at, and how long it took to load. */
  timing() {
    if (!this.isReady) return { shownAt: this.#askedAt, visibleMs: 0, loadMs: this.now() - this.#askedAt };
    return {
      shownAt: this.#shownAt,
      visibleMs: this.visible.read() - this.#visibleAt,
      loadMs: this.#shownAt - this.#askedAt,
    };
  }
}
