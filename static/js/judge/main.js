/* The judging page's entry: reads what the server wrote into the page, and joins the parts. */
import { ImageShelf } from "../lib/images.js";
import { KeyMap, actionFor, deviceOf, keyName } from "../lib/keys.js";
import { IDLE_MS } from "../lib/pace.js";
import { pageOutbox } from "../lib/page_outbox.js";
import { VisibleTime, steadyNow } from "../lib/watch.js";
import { gettext } from "../lib/words.js";
import { Api } from "./api.js";
import { Brake } from "./brake.js";
import { ChoiceView, NO_SHEET } from "./choice.js";
import { keyMapOf } from "./choice_keys.js";
import { Desk } from "./desk.js";
import { AskDialog, KeysDialog, askReason, confirmRest } from "./dialogs.js";
import { PairView } from "./pair.js";
import { Panels } from "./panels.js";
import { usePictures } from "./pictures.js";
import { QuestionQueue } from "./queue.js";
import { Session } from "./session.js";
import { SheetView } from "./sheet.js";
import { Supply } from "./supply.js";
import { gradeKeys, nameGrades } from "./words.js";

const TWINS = { ArrowRight: "similar", ArrowLeft: "different" };
const ANSWERING = new Set(["similar", "different", "cant_tell", "none", "several", "bad_condition", "later"]);

const root = document.getElementById("judge");
const given = root.dataset;
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const isChoice = "pickKeys" in given;
const grades = read("judge-grades"); // [answer, word], none where a pair is similar or different
nameGrades(grades);
for (const [answer] of grades) ANSWERING.add(answer);
const scope = `lookalike.answers.${given.person}.${given.campaign}`; // nobody sends another's answers

const urls = {
  next: given.nextUrl,
  answers: given.answersUrl,
  recent: given.recentUrl,
  guidelines: given.guidelinesUrl,
  stops: given.stopsUrl,
  comments: given.commentsUrl,
  replies: given.repliesUrl,
  read: given.readUrl,
  preferences: given.preferencesUrl,
};
const api = new Api(urls, given.person);
const visible = new VisibleTime();
const now = () => steadyNow();
const queue = new QuestionQueue();
const shelf = new ImageShelf();

const outbox = await pageOutbox(scope, {
  send: (bodies) => api.send(bodies),
  keeps: new Set(["paused"]),
  onReply: (reply) => desk.heardOfAnswers(reply),
  onAddedElsewhere: (body) => desk.follow([body]),
});
const session = new Session({
  queue,
  outbox,
  now,
  progress: { n_done: Number(given.nDone), n_total: Number(given.nTotal) },
  guidelineVersion: Number(given.readVersion),
});
const supply = new Supply({
  api,
  queue,
  outbox,
  shelf,
  onReply: (reply) => desk.heardOfQuestions(reply),
  onTrouble: (words) => desk.view || panels.showState("offline", words),
});
const panels = new Panels(root, {
  ...{ api, outbox, shelf },
  onTakeBack: (uuid, how) => desk.takeBack(uuid, how),
  onRead: (version) => {
    desk.hasRead(version);
    supply.fill();
  },
});
const part = (name) => root.querySelector(`[data-view="${name}"]`);
const seen = { shelf, visible, now };
if (isChoice) usePictures({ base: given.imagesUrl, size: given.picture });
const choosing = isChoice && {
  pickKeys: given.pickKeys,
  isMovedIn: given.arrows === "move",
};
const pair = isChoice ? new ChoiceView(part("choice"), { ...seen, ...choosing }) : new PairView(part("pair"), seen);
const sheet = isChoice
  ? NO_SHEET
  : new SheetView(part("sheet"), { ...seen, onPick: (question) => desk.peek(question) });
const brake = new Brake(() => {
  panels.tell(gettext("Holding a key answers nothing. Look at the pictures, then press once."));
  api.stopped().catch(() => {}); // a note, not an answer
});
const desk = new Desk({
  ...{ session, queue, outbox, supply, pair, sheet, panels, brake, now, mode: isChoice || grades.length ? "pair" : given.mode },
  recent: (n) => api.recent(n),
  confirmRest: (n) => confirmRest(document.getElementById("rest"), n),
});

// ---- keys ----
let keys = read("judge-keys");
let pairKeys;
let sheetKeys;
function useKeys(chosen) {
  keys = chosen;
  const used = grades.length ? gradeKeys(keys, grades, read("judge-default-keys")) : keys;
  pairKeys = new KeyMap(used, grades.length ? {} : TWINS);
  sheetKeys = new KeyMap(used);
  panels.showKeys(used);
}
if (isChoice) {
  const buttons = [...root.querySelectorAll("[data-keys]")].map(({ dataset }) => dataset);
  const others = { keys: "g ?", action: "guidelines" };
  pairKeys = keyMapOf({ pickKeys: given.pickKeys, arrows: given.arrows, buttons: [...buttons, others] });
} else useKeys(keys);
const keysDialog = new KeysDialog(document.getElementById("help"), {
  keys,
  defaults: read("judge-default-keys"),
  allowed: read("judge-allowed-keys"),
  onSave: async (chosen) => {
    await api.savePreferences({ keys: chosen, mode: grades.length ? given.mode : desk.mode });
    useKeys(chosen);
  },
});

const askDialog = new AskDialog(document.getElementById("ask"), {
  onSend: (question, text) => desk.comment(question, text),
});

// ---- acts ----
async function skip(device) {
  const question = desk.view?.question;
  if (!question || desk.isHolding) return;
  const chosen = await askReason(document.getElementById("skip"));
  if (!chosen.reason || desk.view?.question !== question) return;
  desk.answer("skip", { device: chosen.device ?? device, reason: chosen.reason, timeStamp: performance.now() });
}

function ask() {
  if (desk.view?.question) askDialog.open(desk.view.question);
}

const isAnswer = (action) => ANSWERING.has(action) || action.startsWith("pick ");

function perform(action, device, timeStamp) {
  if (desk.isHolding && action !== "undo" && (isAnswer(action) || action === "skip")) {
    if (desk.gate.admits(timeStamp)) desk.closeHold();
    return;
  }
  if (action.startsWith("pick ")) {
    const picked = pair.answerAt(Number(action.slice("pick ".length)));
    if (picked) desk.answer(picked, { device, timeStamp });
  } else if (action.startsWith("move ")) pair.move(action.slice("move ".length));
  else if (ANSWERING.has(action)) {
    if (desk.answer(action, { device, timeStamp })) panels.flash(action);
  } else if (action === "skip") skip(device);
  else if (action === "rest_different") desk.restDifferent({ device, timeStamp });
  else if (action === "undo") desk.undo({ device });
  else if (action === "comment") ask();
  else if (isChoice && action !== "guidelines") return;
  else if (action === "zoom") desk.zoom();
  else if (action === "blink" && desk.view === pair) pair.toggleBlink();
  else if (action === "mode") switchMode();
  else if (action === "guidelines") panels.guidelines.open();
  else if (action === "help") keysDialog.open();
}

function switchMode() {
  if (panels.parts.mode?.disabled) return;
  desk.setMode(desk.mode === "pair" ? "sheet" : "pair");
  api.savePreferences({ keys, mode: desk.mode }).catch(() => {}); // a habit, not an answer
}

document.addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && event.target.closest?.("[data-action], [data-pick]")) {
    event.preventDefault(); // a held Enter would press the button again and again
    return;
  }
  const isDialogOpen = document.querySelector("dialog[open]") !== null;
  const isSheet = desk.view === sheet;
  const meant = (isSheet ? sheetKeys : pairKeys).actionOf(keyName(event)); // arrows move on a sheet
  if (event.repeat && meant && (isAnswer(meant) || meant === "rest_different")) brake.refused(event.timeStamp);
  if (!isDialogOpen && isSheet && event.key.startsWith("Arrow") && !event.altKey) {
    event.preventDefault();
    sheet.move(event.key); // holding an arrow moves on: it answers nothing
    return;
  }
  if (!isChoice && !isDialogOpen && desk.view === pair && pair.pan(event)) {
    event.preventDefault();
    return;
  }
  if (!isDialogOpen && !event.repeat && handledLocally(keyName(event), event)) return;
  const action = actionFor(event, isSheet ? sheetKeys : pairKeys, { isDialogOpen });
  if (action === null) return;
  const place = document.activeElement?.dataset?.pick;
  if (action === "enter" && place === undefined) return; // Enter on another button is a click of its own
  event.preventDefault();
  perform(action === "enter" ? `pick ${place}` : action, "keyboard", event.timeStamp);
});

function handledLocally(key, event) {
  if (key === "Escape") return (!isChoice && (pair.stopBlinking() || desk.closePeek())) || panels.closeNotice();
  if (key !== "Enter" || !desk.isHolding) return false;
  event.preventDefault();
  return desk.closeHold();
}

root.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action], [data-pick]");
  if (!button) return;
  const { action, pick } = button.dataset;
  // a click without a pointer is Enter or Space on a focused button
  perform(action ?? `pick ${pick}`, deviceOf(event), event.timeStamp);
});
panels.on("back-to-sheet", () => desk.closePeek());
panels.on("feedback-next", () => desk.closeHold());
panels.on("state-retry", () => {
  supply.isDry = false;
  supply.fill();
});

// ---- away, and back ----
let lastSign = now();
for (const sign of ["pointermove", "pointerdown", "keydown", "focus"]) {
  window.addEventListener(sign, () => {
    const wasAway = now() - lastSign > IDLE_MS;
    lastSign = now();
    if (wasAway) desk.comeBack();
  }, { capture: true, passive: true });
}

window.addEventListener("online", () => {
  desk.view?.lookAgain();
  supply.fill();
});

// ---- begin ----
const left = await outbox.open();
outbox.subscribe(() => desk.heardOfOutbox());
session.resume(left);
panels.showStage(given.stage);
panels.showSaved();
panels.showParked();
outbox.flush();
desk.lookBack();
desk.advance();
if (given.isUnread) panels.guidelines.openToRead(Number(given.guidelineVersion), { isFirst: given.nDone === "0" });
if (Number(given.nReplies) > 0) panels.replies.show();
root.dataset.isLoaded = "yes";
