/* Pair mode: query and candidate side by side, with linked zoom and pan, and blink comparison. */
import { FITTED, bindLinkedZoom } from "../lib/zoom.js";
import { gettext } from "../lib/words.js";

const BLINK_MS = 600;
const LOOK_AGAIN_MS = 3000; // for a picture that did not come
const PAN = 0.15; // of the frame, for each key press
const PAN_BY = { ArrowLeft: [-PAN, 0], ArrowRight: [PAN, 0], ArrowUp: [0, -PAN], ArrowDown: [0, PAN] };

export class PairView {
  mode = "pair";
  question = null;
  isReady = false;
  #shownAt = 0;
  #askedAt = 0;
  #visibleAt = 0;
  #blink = null;
  #again = null; // the timer of the next look for pictures that did not come

  /** `visible` is a VisibleTime, `now` a steady clock, `shelf` an ImageShelf. */
  constructor(root, { shelf, visible, now }) {
    Object.assign(this, { root, shelf, visible, now });
    this.sides = [...root.querySelectorAll(".pair-side")];
    this.frames = [...root.querySelectorAll("[data-frame]")];
    this.zoom = bindLinkedZoom(this.frames, {
      onChange: (view) => this.#press("zoom", view.scale > 1),
    });
    this.isCalm = matchMedia("(prefers-reduced-motion: reduce)");
    root.addEventListener("click", (event) => {
      const by = event.target.closest("[data-zoom-by]");
      if (by) this.zoom.by(Number(by.dataset.zoomBy));
    });
  }

  /** Show a question: in this very moment if its pictures are decoded, else when they are. */
  show(question) {
    this.root.hidden = false;
    if (this.question?.uid === question.uid && this.isReady) return;
    this.question = question;
    this.root.dataset.question = question.uid;
    delete this.root.dataset.ready;
    this.isReady = false;
    this.#askedAt = this.now();
    this.stopBlinking();
    clearTimeout(this.#again);
    const urls = this.#urls;
    const images = urls.map((url) => this.shelf.now(url));
    if (images.every(Boolean)) this.#place(images);
    else {
      for (const frame of this.frames) {
        frame.firstElementChild.replaceChildren();
        frame.classList.remove("is-broken");
        frame.classList.add("is-waiting");
      }
      this.lookAgain();
    }
  }

  /** Ask for the pictures that are not on screen; goes on by itself until all have come. */
  async lookAgain() {
    const { question } = this;
    if (!question || this.isReady) return;
    clearTimeout(this.#again);
    const images = await Promise.allSettled(this.#urls.map((url) => this.shelf.decoded(url)));
    if (this.question?.uid !== question.uid || this.isReady) return;
    if (images.every(({ status }) => status === "fulfilled")) {
      this.#place(images.map(({ value }) => value));
      return;
    }
    images.forEach(({ status, value }, index) => {
      this.frames[index].classList.remove("is-waiting");
      this.frames[index].classList.toggle("is-broken", status === "rejected");
      if (value) this.#put(index, value);
    });
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.lookAgain(), LOOK_AGAIN_MS);
  }

  /** Look at another part of the zoomed pictures, with Shift and an arrow; false if it is none. */
  pan({ key, shiftKey }) {
    if (!shiftKey || !(key in PAN_BY)) return false;
    this.zoom.pan(...PAN_BY[key]);
    return true;
  }

  hide() {
    this.root.hidden = true;
    this.question = null;
    clearTimeout(this.#again);
    this.stopBlinking();
  }

  /** When the pair was shown, for how long it was looked at, and how long it took to load. */
  timing() {
    if (!this.isReady) return { shownAt: this.#askedAt, visibleMs: 0, loadMs: this.now() - this.#askedAt };
    return {
      shownAt: this.#shownAt,
      visibleMs: this.visible.read() - this.#visibleAt,
      loadMs: this.#shownAt - this.#askedAt,
    };
  }

  /** Show query and candidate in turn at one place; on request one at a time. */
  toggleBlink() {
    if (this.#blink === null) {
      this.root.classList.add("is-blinking");
      this.#press("blink", true);
      this.#turn(0);
      this.#blink = this.isCalm.matches ? "by hand" : setInterval(() => this.#turn(), BLINK_MS);
    } else if (this.#blink === "by hand" && this.sides[1].classList.contains("is-off")) {
      this.#turn(1);
    } else {
      this.stopBlinking();
    }
  }

  stopBlinking() {
    if (this.#blink === null) return false;
    clearInterval(this.#blink);
    this.#blink = null;
    this.root.classList.remove("is-blinking");
    for (const side of this.sides) side.classList.remove("is-off");
    this.#press("blink", false);
    return true;
  }

  #turn(shown = this.sides[0].classList.contains("is-off") ? 0 : 1) {
    this.sides.forEach((side, index) => side.classList.toggle("is-off", index !== shown));
  }

  get #urls() {
    return [this.question.query.url, this.question.candidate.url];
  }

  #place(images) {
    images.forEach((image, index) => this.#put(index, image));
    this.zoom.set(FITTED);
    this.isReady = true;
    this.root.dataset.ready = this.question.uid;
    this.#shownAt = this.now();
    this.#visibleAt = this.visible.read();
  }

  #put(index, image) {
    const frame = this.frames[index];
    const holder = frame.firstElementChild;
    frame.classList.remove("is-waiting", "is-broken");
    image.alt = index === 0 ? gettext("Query") : gettext("Candidate");
    if (holder.firstElementChild === image && holder.childElementCount === 1) return;
    holder.replaceChildren(image);
    // a change must be seen, and must not be waited for
    if (!this.isCalm.matches) image.animate([{ opacity: 0.3 }, { opacity: 1 }], { duration: 110 });
  }

  #press(action, isOn) {
    this.root.querySelector(`[data-action="${action}"]`).setAttribute("aria-pressed", isOn);
  }
}
