/* Everything around the pair: bar, notices, states, strip, explanations. */
import { deviceOf } from "../lib/keys.js";
import { fill, gettext } from "../lib/words.js";
import { agrees, keyLabel, wordOf } from "./words.js";
import { Bar } from "./bar.js";
import { Guidelines } from "./guidelines.js";
import { Replies } from "./replies.js";
import { Parked, Strip } from "./strip.js";

const STATES = {
  loading: [gettext("Loading…"), ""],
  offline: [gettext("No connection"), gettext("Your answers are kept on this device and are sent when it is back.")],
  finished: [gettext("All done"), gettext("You have answered everything that is yours. Thank you.")],
  waiting: [
    gettext("You’re all caught up"),
    gettext("The rest is with other judges. Some may come back to you; this page looks every 20 seconds and goes on by itself."),
  ],
  paused: [
    gettext("This campaign is paused"),
    gettext("Your answers are kept. This page goes on by itself once it is open again."),
  ],
  own_pause: [
    gettext("Your judging is paused"),
    gettext("An admin has paused it for now and will tell you more. What you have answered is kept, and this page goes on by itself once you can judge again."),
  ],
  closed: [gettext("This campaign is closed"), gettext("It takes no more answers. What you have answered counts.")],
  not_qualified: [
    gettext("The qualification round is over"),
    gettext("An admin looks at it now and decides how you go on."),
  ],
};
const TOAST_MS = 5000;

export class Panels {
  constructor(root, { api, outbox, shelf, onTakeBack, onRead }) {
    this.root = root;
    this.parts = {};
    for (const element of root.querySelectorAll("[data-part]")) this.parts[camel(element)] = element;
    this.bar = new Bar(this.parts, outbox);
    this.guidelines = new Guidelines(document.getElementById("guidelines"), api, { onRead });
    this.replies = new Replies(this.parts.replies, this.parts.repliesList, { api, shelf });
    this.parked = new Parked(this.parts.parked, this.parts.parkedList, { outbox, shelf });
    this.strip = new Strip(this.parts.strip, {
      shelf,
      onPick: (uuid, event) => onTakeBack(uuid, { device: deviceOf(event) }),
    });
    root.addEventListener("click", (event) => {
      const name = event.target.closest("[data-dismiss]")?.dataset.dismiss;
      if (name) this.parts[name].hidden = true;
    });
  }

  on(name, handler) {
    this.root.querySelector(`[data-part="${name}"]`)?.addEventListener("click", handler);
  }

  showProgress(progress, pace) {
    this.bar.showProgress(progress, pace);
  }

  showStage(stage) {
    this.root.dataset.stage = stage;
    this.bar.showStage(stage);
  }

  showSaved() {
    this.bar.showSaved();
  }

  showParked() {
    this.parked.show();
  }

  showStrip(entries) {
    this.strip.show(entries);
  }

  showMode(mode, isPeeking) {
    this.root.dataset.mode = mode;
    if (!this.parts.modeName) return; // no pairs: there is one way to judge
    this.parts.modeName.textContent = mode === "pair" ? gettext("Sheet") : gettext("Pair");
    this.parts.backToSheet.hidden = !isPeeking;
    const isSheet = mode === "sheet" && !isPeeking;
    for (const element of this.root.querySelectorAll('[data-only="sheet"]')) element.hidden = !isSheet;
  }

  showKeys(keys) {
    for (const label of this.root.querySelectorAll("[data-key-of]")) {
      label.textContent = keyLabel(keys[label.dataset.keyOf]);
    }
  }

  /** Say why there is no pair on screen; null takes the panel away. */
  showState(name, words = "") {
    const { state, stateTitle, stateText, stateRetry, stateHome } = this.parts;
    state.hidden = name === null;
    for (const button of this.root.querySelectorAll(".judge-answers button")) {
      button.disabled = name !== null && (name === "closed" || button.dataset.action !== "undo");
    }
    for (const button of this.root.querySelectorAll('.judge-tools :is([data-action="comment"], [data-action="mode"])')) {
      button.disabled = name !== null && name !== "loading"; // nothing to ask about or to show
    }
    if (name === null) return;
    if (name !== "loading") this.endBreak(); // there is nothing to rest from
    const [title, text] = STATES[name];
    stateTitle.textContent = title;
    stateText.textContent = words ? `${words} ${text}` : text;
    stateRetry.hidden = name !== "offline";
    stateHome.hidden = name === "loading" || name === "offline";
  }

  /** Explain a training answer: {answer, expected, why}; expected is null until it is known. */
  showFeedback(feedback) {
    const { feedback: panel, feedbackTitle, feedbackText } = this.parts;
    panel.hidden = feedback === null;
    if (feedback === null) return;
    const { answer, question, expected, why } = feedback;
    const isRight = expected !== null && agrees(answer, expected);
    panel.dataset.is = expected === null ? "waiting" : isRight ? "right" : "wrong";
    if (expected === null) {
      feedbackTitle.textContent = gettext("Your answer is on its way");
      feedbackText.textContent = gettext("The explanation comes with the server’s reply.");
    } else {
      const near = isRight ? gettext("Near enough. Expected: {answer}") : gettext("Expected: {answer}");
      const verdict = answer === expected ? gettext("Correct: {answer}") : near;
      feedbackTitle.textContent = fill(verdict, { answer: wordOf(expected, question) });
      feedbackText.textContent = why;
    }
    this.parts.feedbackNext.focus();
  }

  proposeBreak({ n, minutes }) {
    const done = minutes > 0 ? gettext("{n} answers in {minutes} min.") : gettext("{n} answers.");
    const why = gettext("Tired eyes grow strict or lenient without noticing: a short break keeps your judgement even.");
    this.parts.breakText.textContent = `${fill(done, { n, minutes })} ${why}`;
    this.parts.break.hidden = false;
  }

  endBreak() {
    this.parts.break.hidden = true;
  }

  /** Close the notice on top that can be closed; returns whether there was one. */
  closeNotice() {
    if (this.parts.break.hidden) return this.replies.close();
    this.endBreak();
    return true;
  }

  /** Let the button of an action light up, so that a key press is seen. */
  flash(action) {
    const button = this.root.querySelector(`.judge-answers [data-action="${action}"]`);
    if (!button) return;
    button.classList.add("is-hit");
    setTimeout(() => button.classList.remove("is-hit"), 120);
  }

  /** Say something that everybody is to see, over the page, so that nothing moves. */
  tell(words) {
    const { toast } = this.parts;
    clearTimeout(this.toastTimer);
    toast.textContent = words;
    toast.hidden = false;
    this.toastTimer = setTimeout(() => {
      toast.hidden = true;
    }, TOAST_MS);
  }

  say(words) {
    this.parts.said.textContent = words;
  }
}

function camel(element) {
  return element.dataset.part.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
}
