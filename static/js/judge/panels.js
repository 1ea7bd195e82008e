/* Everything around the pair: bar, notices, states, strip, explanations. */
import { deviceOf } from "../lib/keys.js";
import { agrees, keyLabel, wordOf } from "./words.js";
import { Bar } from "./bar.js";
import { Guidelines } from "./dialogs.js";
import { Parked, Strip } from "./strip.js";

const STATES = {
  loading: ["Fetching pairs…", ""],
  offline: ["No connection", "Your answers are kept on this device and are sent when it is back."],
  finished: ["All done", "You have answered every pair that is yours. Thank you."],
  waiting: ["Nothing for you just now", "The pairs that are left are with other judges. Some may come back to you; this page looks every 20 seconds and goes on by itself."],
  paused: ["This campaign is paused", "Your answers are kept. This page goes on by itself once it is open again."],
  own_pause: ["Your judging is paused", "An admin has paused it for now and will tell you more. What you have answered is kept, and this page goes on by itself once you can judge again."],
  closed: ["This campaign is closed", "It takes no more answers. What you have answered counts."],
  not_qualified: ["The qualification round is over", "An admin looks at it now and decides how you go on."],
};
const TOAST_MS = 5000;

export class Panels {
  constructor(root, { api, outbox, shelf, onTakeBack }) {
    this.root = root;
    this.parts = {};
    for (const element of root.querySelectorAll("[data-part]")) this.parts[camel(element)] = element;
    this.bar = new Bar(this.parts, outbox);
    this.guidelines = new Guidelines(document.getElementById("guidelines"), api);
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
    this.parts.modeName.textContent = mode === "pair" ? "Sheet" : "Pair";
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
      button.disabled = name !== null && button.dataset.action !== "undo";
    }
    if (name === null) return;
    const [title, text] = STATES[name].map((said) => said.replaceAll("pair", this.root.dataset.noun));
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
      feedbackTitle.textContent = "Your answer is on its way";
      feedbackText.textContent = "The explanation comes with the server’s reply.";
    } else {
      const verdict = answer === expected ? "Right" : isRight ? "Near enough. Expected" : "Expected";
      feedbackTitle.textContent = `${verdict}: ${wordOf(expected, question).toLowerCase()}`;
      feedbackText.textContent = why;
    }
    this.parts.feedbackNext.focus();
  }

  proposeBreak({ n, minutes }) {
    const time = minutes > 0 ? ` in ${minutes} min` : "";
    this.parts.breakText.textContent =
      `${n} answers${time}. Tired eyes grow strict or lenient without noticing: a short break keeps your judgement even.`;
    this.parts.break.hidden = false;
  }

  /** Fetch new guidelines and tell of them; returns their version, or null. */
  async reloadGuidelines() {
    this.guidelines.forget();
    try {
      const version = await this.guidelines.load();
      this.parts.changed.hidden = false;
      return version;
    } catch {
      return null; // asked again with the next questions
    }
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
