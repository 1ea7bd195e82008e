/* The bar on top: progress, the time that is left, and whether the answers are saved. */
import { workTime } from "../lib/pace.js";
import { fill, formatted, gettext, ngettext } from "../lib/words.js";

const STAGES = {
  training: gettext("Training: each answer is explained"),
  qualification: gettext("Qualification round"),
};

export class Bar {
  constructor(parts, outbox) {
    Object.assign(this, { parts, outbox });
    this.retry = document.createElement("button");
    this.retry.type = "button";
    this.retry.className = "button button-small";
    this.retry.textContent = gettext("Try now");
    this.retry.addEventListener("click", () => outbox.flush());
  }

  showProgress({ n_done, n_total }, pace) {
    const { progress, count, eta } = this.parts;
    progress.max = Math.max(1, n_total);
    progress.value = n_done;
    count.textContent = fill(gettext("{n} of {total}"), { n: formatted(n_done), total: formatted(n_total) });
    const left = pace.left(Math.max(0, n_total - n_done));
    eta.textContent = left === null || n_done >= n_total ? "" : fill(gettext("{time} left at your pace"), { time: workTime(left) });
  }

  showStage(stage) {
    this.parts.stage.hidden = !(stage in STAGES);
    this.parts.stage.textContent = STAGES[stage] ?? "";
  }

  showSaved() {
    const { saved } = this.parts;
    const n = this.outbox.waiting.length;
    const state = this.outbox.state;
    const kept = this.outbox.isKept
      ? gettext("Kept on this device.")
      : gettext("Leave this page open until they are saved.");
    const n_parked = this.outbox.parked.length;
    saved.dataset.is = state === "saved" && n_parked > 0 ? "parked" : state;
    saved.dataset.n = n;
    if (saved.dataset.is === "parked") saved.replaceChildren(fill(gettext("Not accepted: {n}"), { n: formatted(n_parked) }));
    else if (state === "saved") saved.replaceChildren(gettext("All answers saved"));
    else if (state === "saving") saved.replaceChildren(fill(ngettext("Saving {n} answer", "Saving {n} answers", n), { n: formatted(n) }));
    else {
      const unsaved = ngettext("{n} answer not saved yet.", "{n} answers not saved yet.", n);
      const words = document.createElement("span");
      words.textContent = `${fill(unsaved, { n: formatted(n) })} ${this.outbox.problem} ${kept}`;
      saved.title = words.textContent; // where the line is too short for it
      saved.replaceChildren(words, this.retry);
    }
  }
}
