/* Clocks: one that never runs backwards, and one that stands still while the tab is hidden. */

/** Milliseconds since 1970 that do not jump when the computer's clock is set. */
export function steadyNow(performance = globalThis.performance) {
  return performance.timeOrigin + performance.now();
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
