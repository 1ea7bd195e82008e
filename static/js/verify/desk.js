/* The desk of a template or triplet page: turns acts into answers, and answers into the next question. */
import { Gate } from "../lib/keys.js";
import { SendError } from "../lib/outbox.js";

const AHEAD_MIN = 3;

export class Desk {
  #shownAt = 0;
  #shown = null; // the question on screen
  #isFetching = false;

  /** `parts`: api, line, session, gallery, panels, now. */
  constructor(parts) {
    Object.assign(this, parts);
    this.gate = new Gate();
  }

  /** Answer the question on screen; `place` is that of a picked picture. */
  answer(choice, { place = null, device, timeStamp }) {
    if (!this.#shown || !this.gate.admits(timeStamp)) return;
    if (choice === "pick" && place >= this.#shown.images.length) return;
    if (choice === "pick" && !this.gallery.areShown) {
      this.panels.say("The pictures are not here yet.");
      this.gallery.lookAgain();
      return;
    }
    this.session.answer(choice, { place, device, shownAt: this.#shownAt });
    this.#advance();
  }

  undo({ device }) {
    if (this.session.undo({ device })) this.#show();
  }

  move(way) {
    if (this.#shown) this.gallery.move(way);
  }

  /** Ask again for what did not come. */
  lookAgain() {
    if (this.#shown) this.gallery.lookAgain();
    return this.fill();
  }

  /** Follow an answer of another tab: the question is not asked here, too. */
  follow(body) {
    const uid = this.#shown?.uid;
    this.line.skip([body]);
    if (uid !== undefined && this.line.current()?.uid !== uid) this.#advance();
  }

  /** Fetch questions; show the first if there is none on screen. */
  async fill() {
    if (this.#isFetching) return;
    this.#isFetching = true;
    try {
      const { questions, is_open } = await this.api.nextBut(this.line.known());
      this.line.add(questions);
      for (const question of questions) this.gallery.preload(question);
      if (!this.#shown) this.#show();
      if (!this.#shown) this.panels.showEnd(is_open);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      const words = `${error.message} Your answers are kept in this browser.`;
      if (!this.#shown) this.panels.showState("Nothing new came", words, { canRetry: true });
    } finally {
      this.#isFetching = false;
    }
  }

  #advance() {
    this.#show();
    if (this.line.nLeft < AHEAD_MIN) this.fill();
  }

  #show() {
    this.#shown = this.line.current();
    this.#shownAt = this.now();
    if (!this.#shown) {
      this.panels.showState("Loading…");
      return;
    }
    this.panels.showQuestion(this.#shown);
    this.gallery.show(this.#shown);
  }
}
