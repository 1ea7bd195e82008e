/*
 * Clocks: one that never runs backwards, one that stands still while the tab is hidden, and the
 * moment after the next paint.
 */

/** Milliseconds since 1970 that do not jump when the computer's clock is set. */
export function steadyNow(performance = globalThis.performance) {
  return performance.timeOrigin + performance.now();
}

/** Run `work` once the next frame is out; in a hidden tab, where no frame comes, soon. */
export function afterPaint(work) {
  let isDue = true;
  const once = () => {
    if (isDue) work();
    isDue = false;
  };
  requestAnimationFrame(() => setTimeout(once, 0));
  setTimeout(once, 250);
}

/** Measures how long the page has been visible. */
export class VisibleTime {
  #total = 0;
  #since = null;

  constructor(document = globalThis.document, now = () => performance.now()) {
    this.now = now;
    if (document.visibilityState === "visible") this.#since = now();
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#since ??= now();
      else {
        this.#total = this.read();
        this.#since = null;
      }
    });
  }

  /** Milliseconds of visible time so far. */
  read() {
    return this.#total + (this.#since === null ? 0 : this.now() - this.#since);
  }
}
