/* The bar on top: progress, the time that is left, and whether the answers are saved. */
import { workTime } from "../lib/pace.js";

const number = new Intl.NumberFormat("en-GB");
const STAGES = { training: "Training: each answer is explained", qualification: "Qualification round" };

export class Bar {
  constructor(parts, outbox) {
    Object.assign(this, { parts, outbox });
    this.retry = document.createElement("button");
    this.retry.type = "button";
    this.retry.className = "button button-small";
    this.retry.textContent = "Try now";
    this.retry.addEventListener("click", () => outbox.flush());
  }

  showProgress({ n_done, n_total }, pace) {
    const { progress, count, eta } = this.parts;
    progress.max = Math.max(1, n_total);
    progress.value = n_done;
    count.textContent = `${number.format(n_done)} of ${number.format(n_total)}`;
    const left = pace.left(Math.max(0, n_total - n_done));
    eta.textContent = left === null || n_done >= n_total ? "" : `${workTime(left)} left at your pace`;
  }

  showStage(stage) {
    this.parts.stage.hidden = !(stage in STAGES);
    this.parts.stage.textContent = STAGES[stage] ?? "";
  }

  showSaved() {
    const { saved } = this.parts;
    const n = this.outbox.waiting.length;
    const answers = n === 1 ? "1 answer" : `${number.format(n)} answers`;
    const state = this.outbox.state;
    const kept = this.outbox.isKept ? "Kept on this device." : "Leave this page open until they are saved.";
    saved.dataset.is = state;
    saved.dataset.n = n;
    if (state === "saved") saved.replaceChildren("All answers saved");
    else if (state === "saving") saved.replaceChildren(`Saving ${answers}`);
    else saved.replaceChildren(`${answers} not saved yet. ${this.outbox.problem} ${kept}`, this.retry);
  }
}
