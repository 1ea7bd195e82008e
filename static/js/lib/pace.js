/*
 * How fast somebody works, leaving out the time they were away, and how long the rest will take.
 */
import { fill, gettext } from "./words.js";

export const IDLE_MS = 60_000; // longer than this without an answer: they were away
const WINDOW = 100;
const ENOUGH = 5;

export class Pace {
  #spans = [];

  /** Note that an answer took `ms` of visible time; absences are left out. */
  add(ms) {
    if (!(ms >= 0) || ms > IDLE_MS) return;
    this.#spans.push(ms);
    if (this.#spans.length > WINDOW) this.#spans.shift();
  }

  /** Mean milliseconds per answer over the last hundred, or null before the fifth. */
  get msPerAnswer() {
    if (this.#spans.length < ENOUGH) return null;
    return this.#spans.reduce((sum, ms) => sum + ms, 0) / this.#spans.length;
  }

  /** Milliseconds of work left for `n` answers, or null while the pace is unknown. */
  left(n) {
    const each = this.msPerAnswer;
    return each === null ? null : each * n;
  }
}

/** A time span of work in words: "under a minute", "about 12 min", "about 2 h 10 min". */
export function workTime(ms) {
  if (ms === null) return "";
  const minutes = Math.ceil(ms / 60_000);
  if (ms < 60_000) return gettext("under a minute");
  if (minutes < 60) return fill(gettext("about {minutes} min"), { minutes });
  const rounded = Math.round(minutes / 5) * 5;
  const rest = rounded % 60;
  const hours = (rounded - rest) / 60;
  return rest
    ? fill(gettext("about {hours} h {minutes} min"), { hours, minutes: rest })
    : fill(gettext("about {hours} h"), { hours });
}

/** When to propose a break: after so many answers or minutes of work since the last one. */
export class Breaks {
  #since;
  #lastAt;
  #n = 0;

  constructor(now, { everyN = 100, everyMs = 20 * 60_000, restMs = 5 * 60_000 } = {}) {
    Object.assign(this, { everyN, everyMs, restMs });
    this.#since = this.#lastAt = now;
  }

  /** Note an answer; returns {n, minutes} when a break is due, else null. */
  note(now) {
    if (now - this.#lastAt >= this.restMs) this.#restart(now); // they have had one
    this.#lastAt = now;
    this.#n += 1;
    if (this.#n < this.everyN && now - this.#since < this.everyMs) return null;
    const due = { n: this.#n, minutes: Math.round((now - this.#since) / 60_000) };
    this.#restart(now);
    return due;
  }

  #restart(now) {
    this.#since = now;
    this.#n = 0;
  }
}
