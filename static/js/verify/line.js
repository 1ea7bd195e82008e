/*
 * The questions of a judge in their order: those to come, the one shown, and those answered here,
 * which can be taken back one after the other. Knows no page.
 */

export class Line {
  #waiting = [];
  #answered = [];
  #known = new Set();
  #skipped = new Set();

  /** Put questions at the end; those that are known are left out. */
  add(questions) {
    for (const question of questions) {
      if (this.#known.has(question.uid) || this.#skipped.has(question.uid)) continue;
      this.#known.add(question.uid);
      this.#waiting.push(question);
    }
  }

  /** Leave out what answers of another page have settled; bodies in their order. */
  skip(bodies) {
    for (const { question, choice } of bodies) {
      if (choice === "withdrawn") this.#skipped.delete(question);
      else this.#skipped.add(question);
    }
    this.#waiting = this.#waiting.filter(({ uid }) => {
      if (this.#skipped.has(uid)) this.#known.delete(uid); // comes again if it is taken back there
      return !this.#skipped.has(uid);
    });
  }

  current() {
    return this.#waiting[0] ?? null;
  }

  get nLeft() {
    return this.#waiting.length;
  }

  /** Uids that need not be sent again: to come, or skipped, or the last answered. */
  known() {
    const recent = this.#answered.slice(-50).map((question) => question.uid);
    const coming = this.#waiting.map((question) => question.uid);
    return [...coming, ...this.#skipped, ...recent];
  }

  /** The shown one is answered. */
  answered() {
    const question = this.#waiting.shift();
    if (question) this.#answered.push(question);
  }

  /** Take the last answer back: its question is shown again. Returns it, or null. */
  back() {
    const question = this.#answered.pop();
    if (!question) return null;
    this.#waiting.unshift(question);
    return question;
  }
}
