/* Pair mode: query and candidate side by side, with linked zoom and pan, and blink comparison. */
import { FITTED, bindLinkedZoom } from "../lib/zoom.js";
import { gettext } from "../lib/words.js";
import { QuestionView } from "./question_view.js";

const BLINK_MS = 600;
const PAN = 0.15; // of the frame, for each key press
const PAN_BY = { ArrowLeft: [-PAN, 0], ArrowRight: [PAN, 0], ArrowUp: [0, -PAN], ArrowDown: [0, PAN] };

export class PairView extends QuestionView {
  mode = "pair";
  #blink = null;

  constructor(root, parts) {
    super(root, parts);
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

  get urls() {
    return [this.question.query.url, this.question.candidate.url];
  }

  /** Show a question: in this very moment if its pictures are decoded, else when they are. */
  show(question) {
    if (!this.turnTo(question)) return;
    this.stopBlinking();
    const images = this.urls.map((url) => this.shelf.now(url));
    if (images.every(Boolean)) {
      images.forEach((image, index) => this.put(index, image));
      this.markReady();
    } else {
      for (const frame of this.frames) {
        frame.firstElementChild.replaceChildren();
        frame.classList.remove("is-broken");
        frame.classList.add("is-waiting");
      }
      this.lookAgain();
    }
  }

  /** Look at another part of the zoomed pictures, with Shift and an arrow; false if it is none. */
  pan({ key, shiftKey }) {
    if (!shiftKey || !(key in PAN_BY)) return false;
    this.zoom.pan(...PAN_BY[key]);
    return true;
  }

  hide() {
    super.hide();
    this.stopBlinking();
  }

  markReady() {
    this.zoom.set(FITTED);
    super.markReady();
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

  put(index, image) {
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
