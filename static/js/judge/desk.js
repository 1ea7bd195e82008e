/*
 * The judge's desk: turns keys, clicks and touches into acts, and acts into the next pair.
 *
 * What must happen between a key press and the next paint is done at once; the rest (strip,
 * counters, prefetching) waits until the pair is on the screen.
 */
import { Gate } from "../lib/keys.js";
import { Breaks, Pace } from "../lib/pace.js";
import { afterPaint } from "../lib/watch.js";
import { fill, formatted, gettext, ngettext } from "../lib/words.js";
import { SHEET_MAX } from "./queue.js";
import { STRIP_N, isFinal, isVote } from "./session.js";
import { wordOf } from "./words.js";

const MOST_RECENT = 200; // answers that the server gives at once
const AT_ONCE = 10; // more than so many "different" at once are asked about

export class Desk {
  #hold = null; // {uuid, answer}: a training answer whose explanation is on the screen
  #isPeeking = false;
  #isLateDue = false;
  #reply = { state: "open", stage: "judging" };
  #isWaiting = true;
  #isFinished = false;
  #n_given = 0; // answers on this page
  #lookingBack = null; // the promise of earlier answers that are being read
  #comment = null; // {question, uuid}: sent since the last answer, so that undo takes it back

  constructor(parts) {
    Object.assign(this, parts); // session, queue, outbox, supply, pair, sheet, panels, mode, now
    this.gate = new Gate();
    this.pace = new Pace();
    this.breaks = new Breaks(this.now());
  }

  /** The view on screen, or null. */
  get view() {
    if (!this.pair.root.hidden) return this.pair;
    return this.sheet.root.hidden ? null : this.sheet;
  }

  get isHolding() {
    return this.#hold !== null;
  }

  get isPeeking() {
    return this.#isPeeking;
  }

  get #isClosed() {
    return this.#reply.state === "closed";
  }

  // ---- acts ----

  /** Answer the pair on screen; returns whether the answer was taken. */
  answer(answer, { device, timeStamp, reason = "" }) {
    const { view } = this;
    const question = view?.question;
    if (!question || this.#hold) return false;
    if (isVote(answer) && !view.isReady) {
      this.panels.say(gettext("The pictures are not here yet."));
      return false;
    }
    if (!this.gate.admits(timeStamp)) return false;
    this.panels.endBreak();
    const timing = view.timing();
    const uuid = this.session.answer(question, { answer, reason, mode: view.mode, device, ...timing });
    if (question.kind === "training" && isVote(answer)) this.#holdFor(uuid, answer, question);
    else this.#goOn(question, answer);
    this.#noteAnswer(answer, timing.visibleMs);
    return true;
  }

  /**
   * Answer "different" for what is left of the sheet, if all of it has been in view for as long as
   * it takes to look. Many at once are asked about first.
   */
  async restDifferent({ device, timeStamp }) {
    if (this.view !== this.sheet) return;
    if (!this.gate.admits(timeStamp)) {
      this.brake.refused(timeStamp);
      return;
    }
    if (this.sheet.showUnseen()) {
      this.panels.tell(gettext("There is more below. Look at it, then press again."));
      return;
    }
    const left = () => this.sheet.open.filter(({ uid }) => this.queue.has(uid)); // no other tab's
    if (!this.sheet.isTimeFor(left().length)) {
      this.sheet.noteEarly();
      this.brake.refused(timeStamp);
      const n = left().length;
      const words = ngettext("Look at the one that is left, then press again.", "Look at the {n} that are left, then press again.", n);
      this.panels.tell(fill(words, { n }));
      return;
    }
    if (left().length > AT_ONCE && !(await this.confirmRest(left().length))) return;
    if (this.view === this.sheet) this.#answerRest(left(), device);
  }

  #answerRest(open, device) {
    this.panels.endBreak();
    const timing = this.sheet.timing(open.length);
    for (const question of open) {
      const act = { answer: "different", reason: "", mode: "sheet", device, ...timing };
      this.session.answer(question, act);
      this.sheet.mark(question.uid, "different");
      this.#noteAnswer("different", timing.visibleMs);
    }
    this.sheet.noteAct();
    if (this.sheet.moveOn()) this.panels.say(gettext("What is left has no picture yet."));
    else this.advance();
    this.#late();
  }

  /** Ask an admin about the question on screen; without words it is a flag. */
  comment(question, text) {
    this.#comment = { question, uuid: this.session.comment(question, text) };
    const said = text ? gettext("Sent to the admins.") : gettext("Flagged.");
    this.panels.tell(`${said} ${gettext("Undo takes it back.")}`);
  }

  /** Take back what was done last; earlier answers are read when those at hand are used up. */
  async undo({ device }) {
    if (this.#isClosed) return;
    if (this.#comment) {
      this.session.withdrawComment(this.#comment.question, this.#comment.uuid);
      this.#comment = null;
      this.panels.tell(gettext("Your question is taken back."));
      return;
    }
    this.closeHold({ isSilent: true });
    if (this.session.history.length === 0) {
      const n = this.#n_given;
      await this.lookBack();
      if (this.#n_given > n) return; // it was not this answer that was to be taken back
    }
    this.#reopened(this.session.undo({ device, mode: this.mode }));
  }

  /** Read the last answers that hold, so that they can be taken back. */
  lookBack() {
    // those whose withdrawal is on its way still hold for the server
    const n = Math.min(STRIP_N + this.outbox.waiting.length, MOST_RECENT);
    this.#lookingBack ??= this.recent(n)
      .then(({ answers }) => this.session.remember(answers))
      .catch(() => {}) // without the network there are those of this page
      .finally(() => {
        this.#lookingBack = null;
        this.#late();
      });
    return this.#lookingBack;
  }

  /** Take back one answer of the strip. */
  takeBack(uuid, { device }) {
    if (this.#isClosed) return;
    this.closeHold({ isSilent: true });
    this.#reopened(this.session.takeBack(uuid, { device, mode: this.mode }));
  }

  #reopened(question) {
    if (!question) {
      this.panels.say(gettext("There is nothing to take back."));
      return;
    }
    this.#isPeeking = false;
    if (this.view === this.sheet && this.sheet.has(question.uid)) {
      this.sheet.mark(question.uid, null);
      this.sheet.select(question.uid);
    } else {
      this.sheet.hide();
      this.advance();
    }
    this.panels.say(gettext("Taken back. Judge it again."));
    this.#late();
  }

  /** Look closer: zoom in pair mode; on a sheet, show the candidate as a pair. */
  zoom() {
    if (this.view === this.sheet && this.sheet.question) this.peek(this.sheet.question);
    else if (this.#isPeeking) this.closePeek();
    else this.pair.zoom.toggle();
  }

  peek(question) {
    this.#isPeeking = true;
    this.sheet.root.hidden = true;
    this.pair.show(question);
    this.panels.showMode(this.mode, true);
  }

  closePeek() {
    if (!this.#isPeeking) return false;
    this.#isPeeking = false;
    this.pair.hide();
    this.sheet.root.hidden = false;
    this.sheet.select(this.sheet.question.uid);
    this.panels.showMode(this.mode, false);
    return true;
  }

  setMode(mode) {
    this.mode = mode;
    this.#isPeeking = false;
    this.pair.hide();
    this.sheet.hide();
    this.advance();
    this.#late();
  }

  // ---- what is on screen ----

  /** Show what comes next. */
  advance() {
    const { head } = this.queue;
    this.#isFinished = false;
    if (!head) {
      if (!this.#isWaiting) this.supply.isDry = false; // what is used up may have come back
      this.#showNothing();
    } else if (this.mode === "pair" || head.kind === "training") {
      this.sheet.hide();
      this.panels.showState(null);
      this.pair.show(head);
    } else this.#showSheet(head);
    this.#isWaiting = !head;
    this.panels.showMode(head?.kind === "training" ? "pair" : this.mode, this.#isPeeking);
    this.#late();
  }

  #showSheet(head) {
    this.pair.hide();
    this.panels.showState(null);
    // those of this visit: a query comes again, maybe with a pair that was answered long ago
    const { history } = this.session;
    const isOther = ({ question }) => question.query.url !== head.query.url;
    const visit = history.slice(history.findLastIndex(isOther) + 1);
    const answered = visit.filter(({ question }) => question.uid !== head.uid);
    const open = this.queue.group();
    const n_room = SHEET_MAX - open.length;
    this.sheet.show(open, n_room > 0 ? answered.slice(-n_room) : []);
  }

  #showNothing() {
    this.pair.hide();
    this.sheet.hide();
    const { state, stage } = this.#reply;
    if (this.#reply.must_read) this.panels.showState("loading");
    else if (state === "paused" && this.#reply.is_own_pause) this.panels.showState("own_pause");
    else if (state !== "open") this.panels.showState(state);
    else if (stage === "not_qualified") this.panels.showState("not_qualified");
    else if (this.supply.isDry && this.#reply.is_waiting) this.panels.showState("waiting");
    else if (this.supply.isDry && !this.#reply.isWaiting) this.#showFinished();
    else this.panels.showState("loading");
    this.supply.fill();
  }

  /** All is answered: what was planned for the judge and went to others is left out of the count. */
  #showFinished() {
    const { n_done, n_total } = this.session.progress;
    const n = n_total - n_done;
    const words = fill(gettext("Other judges have taken the rest: {n}."), { n: formatted(n) });
    this.panels.showState("finished", n > 0 ? words : "");
    this.#isFinished = true;
  }

  #goOn(question, answer) {
    if (this.view === this.sheet || this.#isPeeking) {
      this.closePeek();
      this.sheet.mark(question.uid, answer);
      this.sheet.noteAct();
      if (this.sheet.moveOn()) return;
    }
    this.advance();
  }

  // ---- training ----

  #holdFor(uuid, answer, question) {
    this.#hold = { uuid, answer, question };
    this.panels.showFeedback({ answer, question, expected: null, why: "" });
  }

  /** Leave the explanation and go on; returns whether there was one. */
  closeHold({ isSilent = false } = {}) {
    if (!this.#hold) return false;
    this.#hold = null;
    this.panels.showFeedback(null);
    this.panels.showStage(this.#reply.stage);
    if (!isSilent) this.advance();
    return true;
  }

  // ---- what others say ----

  /** The server's reply to answers, whichever tab has sent them. */
  heardOfAnswers({ results, progress, ...news }) {
    this.session.countedByServer(progress);
    this.#hearNews(news);
    const mine = results.find(({ uuid }) => uuid === this.#hold?.uuid);
    if (mine?.feedback) this.panels.showFeedback({ ...this.#hold, ...mine.feedback });
    else if (mine) this.closeHold();
    for (const state of ["paused", "closed"]) {
      if (results.some(({ code }) => code === state)) this.#stop(state);
    }
    this.#late();
  }

  /** The campaign takes no answers; told again with each attempt to send what waits. */
  #stop(state) {
    if (this.#reply.state === state) return;
    this.#reply = { ...this.#reply, state };
    this.queue.clear();
    this.advance();
  }

  /** The server's reply with more questions. */
  heardOfQuestions(reply) {
    this.#reply = reply;
    this.session.countedByServer(reply.progress);
    if (!this.#hold) this.panels.showStage(reply.stage); // else the explanation keeps its place
    this.#hearNews(reply);
    if (this.#isWaiting) this.advance();
    this.#late();
  }

  /** The outbox has changed, here or in another tab. */
  heardOfOutbox() {
    this.panels.showSaved();
    this.follow(this.outbox.waiting.map(({ body }) => body));
    if (this.#isWaiting && this.outbox.waiting.length === 0) {
      this.supply.isDry = false;
      this.supply.fill();
    }
    this.#late();
  }

  /** Follow what was answered in other tabs. */
  follow(bodies) {
    const fresh = this.session.follow(bodies);
    for (const { question, answer } of fresh) {
      this.sheet.mark(question, answer === "withdrawn" ? null : answer);
    }
    const shown = this.view?.question;
    if (fresh.length === 0 || !shown || this.queue.has(shown.uid) || this.#hold) return;
    this.panels.say(gettext("This was answered in another tab."));
    this.sheet.hide();
    this.advance();
  }

  /** The judge is back after a while: what is theirs no more is not asked any more. */
  async comeBack() {
    const n = await this.supply.renew();
    if (n === 0) return;
    this.panels.tell(fill(ngettext("While you were away, {n} question was put back: it may come later or go to others.", "While you were away, {n} questions were put back: they may come later or go to others.", n), { n: formatted(n) }));
    const shown = this.view?.question;
    if (this.#hold || (shown && this.queue.has(shown.uid))) return;
    this.closePeek();
    this.sheet.hide();
    this.advance();
  }

  #hearNews({ read_version, must_read, guideline_version, n_replies }) {
    if (read_version > this.session.guidelineVersion) this.hasRead(read_version); // in another tab
    if (must_read) this.panels.guidelines.openToRead(guideline_version);
    if (n_replies > 0) this.panels.replies.show();
  }

  /** The judge has read a version of the guidelines: answers are made under it from now on. */
  hasRead(version) {
    this.session.guidelineVersion = version;
    this.panels.guidelines.wasRead(version);
    this.#reply = { ...this.#reply, must_read: false };
    this.supply.isDry = false;
    if (this.#isWaiting) this.advance();
  }

  // ---- afterwards ----

  #noteAnswer(answer, visibleMs) {
    this.#comment = null;
    this.#n_given += 1;
    if (isFinal(answer)) this.pace.add(visibleMs);
    this.supply.noteAnswer();
    const due = this.breaks.note(this.now());
    if (due) this.panels.proposeBreak(due);
    const { n_done, n_total } = this.session.progress;
    this.panels.say(`${wordOf(answer)}. ${fill(gettext("{n} of {total}"), { n: formatted(n_done), total: formatted(n_total) })}.`);
  }

  /** Do what can wait until the pair is on the screen. */
  #late() {
    if (this.#isLateDue) return;
    this.#isLateDue = true;
    afterPaint(() => {
      this.#isLateDue = false;
      this.panels.showParked();
      const { n_done, n_total } = this.session.progress;
      this.panels.showProgress({ n_done, n_total: this.#isFinished ? n_done : n_total }, this.pace);
      this.panels.showStrip(this.session.strip);
      this.supply.wantPictures(this.mode, this.session.history.slice(-STRIP_N), this.sheet.questions);
      this.supply.fill();
    });
  }
}
