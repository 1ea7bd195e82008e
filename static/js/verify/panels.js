/* Everything around the pictures: the question in words, progress, what is saved, states. */

const SAVED = { saved: "Saved", saving: "Saving…", retrying: "Kept here; trying again" };

export class Panels {
  constructor(parts, retry) {
    Object.assign(this, { parts, retry });
  }

  /** Show the stage with a question's words; the pictures are the gallery's. */
  showQuestion({ condition, images }) {
    const { stage, state, condition: words, respect, said } = this.parts;
    stage.hidden = false;
    state.hidden = true;
    words.textContent = condition;
    if (respect) respect.hidden = !condition;
    said.textContent = `${condition} ${images.length} images`.trim();
  }

  /** Say why there is no question on screen. */
  showState(title, text = "", { canRetry = false } = {}) {
    this.parts.stage.hidden = true;
    this.parts.state.hidden = false;
    this.parts["state-title"].textContent = title;
    this.parts["state-text"].textContent = text;
    this.retry.hidden = !canRetry;
  }

  showEnd(isOpen) {
    if (isOpen) this.showState("All done", "You have answered everything. Undo takes the last one back.");
    else this.showState("Closed", "An admin has closed this campaign. Your answers are kept.");
  }

  showProgress({ n_done, n_total }) {
    this.parts.progress.value = n_done;
    this.parts.count.textContent = `${n_done} of ${n_total}`;
  }

  /** Say how an outbox is: what it has sent, and what was refused. */
  showSaved({ state, parked }) {
    this.parts.saved.textContent = SAVED[state];
    this.parts.parked.hidden = parked.length === 0;
    if (parked.length) this.parts["parked-text"].textContent = `${parked.length}: ${parked[0].parked.message}`;
  }

  say(words) {
    this.parts.said.textContent = words;
  }
}
