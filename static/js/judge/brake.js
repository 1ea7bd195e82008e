/*
 * Notices a key that is held or hammered. Such presses answer nothing; of every so many in a row
 * the judge is told, and so is the server. Knows no document.
 */

export const IN_A_ROW = 15;
const ROW_MS = 3000; // a pause of so long ends the row

export class Brake {
  #n = 0;
  #lastAt = -Infinity;

  constructor(onStop) {
    this.onStop = onStop;
  }

  /** A press that came too soon, or because the key was still down; `timeStamp` is its event's. */
  refused(timeStamp) {
    if (timeStamp - this.#lastAt > ROW_MS) this.#n = 0;
    this.#lastAt = timeStamp;
    this.#n += 1;
    if (this.#n % IN_A_ROW === 0) this.onStop();
  }
}
