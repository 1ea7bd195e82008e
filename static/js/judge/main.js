/* The judging page's entry: reads what the server wrote into the page, and joins the parts. */
import { ImageShelf } from "../lib/images.js";
import { KeyMap, actionFor, deviceOf, keyName } from "../lib/keys.js";
import { pageOutbox } from "../lib/page_outbox.js";
import { VisibleTime, steadyNow } from "../lib/watch.js";
import { Api } from "./api.js";
import { Brake } from "./brake.js";
import { Desk } from "./desk.js";
import { KeysDialog, askReason, confirmRest } from "./dialogs.js";
import { PairView } from "./pair.js";
import { Panels } from "./panels.js";
import { QuestionQueue } from "./queue.js";
import { STRIP_N, Session } from "./session.js";
import { SheetView } from "./sheet.js";
import { Supply } from "./supply.js";

const TWINS = { ArrowRight: "similar", ArrowLeft: "different" };
const ANSWERING = new Set(["similar", "different", "cant_tell", "later"]);
const BRAKED = new Set([...ANSWERING, "rest_different"]);

const root = document.getElementById("judge");
const given = root.dataset;
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const scope = `lookalike.answers.${given.person}.${given.campaign}`; // nobody sends another's answers

const urls = {
  next: given.nextUrl,
  answers: given.answersUrl,
  recent: given.recentUrl,
  guidelines: given.guidelinesUrl,
  stops: given.stopsUrl,
  preferences: given.preferencesUrl,
};
const api = new Api(urls, given.person);
const visible = new VisibleTime();
const now = () => steadyNow();
const queue = new QuestionQueue();
const shelf = new ImageShelf();

const outbox = await pageOutbox(scope, {
  send: (bodies) => api.answers(bodies),
  keeps: new Set(["paused"]),
  onReply: (reply) => desk.heardOfAnswers(reply),
  onAddedElsewhere: (body) => desk.follow([body]),
});
const session = new Session({
  queue,
  outbox,
  now,
  progress: { n_done: Number(given.nDone), n_total: Number(given.nTotal) },
  guidelineVersion: Number(given.guidelineVersion),
});
const supply = new Supply({
  api,
  queue,
  outbox,
  shelf,
  onReply: (reply) => desk.heardOfQuestions(reply),
  onTrouble: (words) => desk.view || panels.showState("offline", words),
});
const panels = new Panels(root, { api, outbox, shelf, onTakeBack: (uuid, how) => desk.takeBack(uuid, how) });
const pair = new PairView(root.querySelector('[data-view="pair"]'), { shelf, visible, now });
const sheet = new SheetView(root.querySelector('[data-view="sheet"]'), {
  shelf,
  visible,
  now,
  onPick: (question) => desk.peek(question),
});
const brake = new Brake(() => {
  panels.tell("Holding a key answers nothing. Look at both pictures, then press once.");
  api.stopped().catch(() => {}); // a note, not an answer
});
const desk = new Desk({
  ...{ session, queue, outbox, supply, pair, sheet, panels, brake, now, mode: given.mode },
  confirmRest: (n) => confirmRest(document.getElementById("rest"), n),
});

// ---- keys ----
let keys = read("judge-keys");
let pairKeys;
let sheetKeys;
function useKeys(chosen) {
  keys = chosen;
  pairKeys = new KeyMap(keys, TWINS);
  sheetKeys = new KeyMap(keys);
  panels.showKeys(keys);
}
useKeys(keys);
const keysDialog = new KeysDialog(document.getElementById("help"), {
  keys,
  defaults: read("judge-default-keys"),
  allowed: read("judge-allowed-keys"),
  onSave: async (chosen) => {
    await api.savePreferences({ keys: chosen, mode: desk.mode });
    useKeys(chosen);
  },
});

// ---- acts ----
async function skip(device) {
  const question = desk.view?.question;
  if (!question || desk.isHolding) return;
  const chosen = await askReason(document.getElementById("skip"));
  if (!chosen.reason || desk.view?.question !== question) return;
  desk.answer("skip", { device: chosen.device ?? device, reason: chosen.reason, timeStamp: performance.now() });
}

function perform(action, device, timeStamp) {
  if (desk.isHolding && action !== "undo" && (ANSWERING.has(action) || action === "skip")) {
    if (desk.gate.admits(timeStamp)) desk.closeHold();
    return;
  }
  if (ANSWERING.has(action)) {
    if (desk.answer(action, { device, timeStamp })) panels.flash(action);
  } else if (action === "skip") skip(device);
  else if (action === "rest_different") desk.restDifferent({ device, timeStamp });
  else if (action === "undo") desk.undo({ device });
  else if (action === "zoom") desk.zoom();
  else if (action === "blink" && desk.view === pair) pair.toggleBlink();
  else if (action === "mode") switchMode();
  else if (action === "guidelines") panels.guidelines.open();
  else if (action === "help") keysDialog.open();
}

function switchMode() {
  desk.setMode(desk.mode === "pair" ? "sheet" : "pair");
  api.savePreferences({ keys, mode: desk.mode }).catch(() => {}); // a habit, not an answer
}

document.addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && event.target.closest?.("[data-action]")) {
    event.preventDefault(); // a held Enter would press the button again and again
    return;
  }
  const isDialogOpen = document.querySelector("dialog[open]") !== null;
  const isSheet = desk.view === sheet;
  const meant = (isSheet ? sheetKeys : pairKeys).actionOf(keyName(event)); // arrows move on a sheet
  if (event.repeat && BRAKED.has(meant)) brake.refused(event.timeStamp);
  if (!isDialogOpen && isSheet && event.key.startsWith("Arrow") && !event.altKey) {
    event.preventDefault();
    sheet.move(event.key); // holding an arrow moves on: it answers nothing
    return;
  }
  if (!isDialogOpen && desk.view === pair && pair.pan(event)) {
    event.preventDefault();
    return;
  }
  if (!isDialogOpen && !event.repeat && handledLocally(keyName(event), event)) return;
  const action = actionFor(event, isSheet ? sheetKeys : pairKeys, { isDialogOpen });
  if (action === null) return;
  event.preventDefault();
  perform(action, "keyboard", event.timeStamp);
});

function handledLocally(key, event) {
  if (key === "Escape") return pair.stopBlinking() || desk.closePeek();
  if (key !== "Enter" || !desk.isHolding) return false;
  event.preventDefault();
  return desk.closeHold();
}

root.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (!button) return;
  // a click without a pointer is Enter or Space on a focused button
  perform(button.dataset.action, deviceOf(event), event.timeStamp);
});
panels.on("back-to-sheet", () => desk.closePeek());
panels.on("feedback-next", () => desk.closeHold());
panels.on("state-retry", () => {
  supply.isDry = false;
  supply.fill();
});

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
api
  .recent(STRIP_N)
  .then(({ answers }) => {
    session.remember(answers);
    panels.showStrip(session.strip);
  })
  .catch(() => {}); // the strip starts empty then
desk.advance();
root.dataset.isLoaded = "yes";
