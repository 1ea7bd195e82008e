/* The page on which a judge answers templates or triplets: shows one, keeps the answer safe. */
import { Gate, KeyMap, actionFor, deviceOf } from "../lib/keys.js";
import { Outbox, SendError } from "../lib/outbox.js";
import { openStore } from "../lib/stores.js";
import { makeUuid } from "../lib/uuid.js";
import { steadyNow } from "../lib/watch.js";
import { Api } from "../judge/api.js";
import { Line } from "./line.js";

const ANSWERS = new Set(["none", "several", "bad_condition", "cant_tell"]);
const MOVES = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
const AHEAD_MIN = 3;

const root = document.getElementById("verify");
const given = root.dataset;
const pickKeys = [...given.pickKeys];
const names = given.names.split(",");
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const scope = `lookalike.verdicts.${given.person}.${given.campaign}`; // nobody sends another's

const line = new Line();
const gate = new Gate();
const api = new Api({ next: given.nextUrl, answers: given.answersUrl }, given.person);
const outbox = new Outbox({
  store: await openStore(scope),
  send: (bodies) => api.answers(bodies),
  exclusive: (work) => (navigator.locks ? navigator.locks.request(scope, work) : work()),
  channel: "BroadcastChannel" in window ? new BroadcastChannel(scope) : null,
  onReply: (reply) => heardProgress(reply.progress),
  onAddedElsewhere: (body) => follow(body),
});
let progress = { n_done: Number(given.nDone), n_total: Number(given.nTotal) };
let current = null; // {question, shownAt}
let chosen = 0; // the picture that the arrows are on
let isFetching = false;

const keyMap = new KeyMap({ enter: "Enter" }, twins());

/** {key: action}: of the pictures, of the buttons that name their keys, and of the arrows. */
function twins() {
  const found = Object.fromEntries(pickKeys.map((key, place) => [key, `pick ${place}`]));
  for (const { dataset } of root.querySelectorAll("[data-keys]")) {
    for (const key of dataset.keys.split(" ")) found[key] = dataset.action;
  }
  for (const [key, way] of Object.entries(MOVES)) {
    if (given.arrows === "move") found[key] = `move ${way}`;
  }
  if (given.arrows === "pick") Object.assign(found, { ArrowLeft: "pick 0", ArrowRight: "pick 1" });
  return found;
}

// ---- supply ----
async function fetchMore() {
  if (isFetching) return;
  isFetching = true;
  try {
    const body = await api.nextBut(line.known());
    line.add(body.questions);
    body.questions.forEach(preload);
    if (!current) show();
    if (!current) ended(body.is_open);
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    if (!current) state("Nothing new came", `${error.message} Your answers are kept in this browser.`, true);
  } finally {
    isFetching = false;
  }
}

function preload(question) {
  new Image().src = question.reference.url;
  for (const image of question.images) new Image().src = image[given.picture];
}

// ---- showing ----
function show() {
  const question = line.current();
  current = question ? { question, shownAt: steadyNow() } : null;
  part("stage").hidden = !question;
  part("state").hidden = Boolean(question);
  if (!question) return;
  part("reference").src = question.reference.url;
  part("condition").textContent = question.condition;
  if (part("respect")) part("respect").hidden = !question.condition;
  const tiles = question.images.map((image, place) => tile(image, place));
  part("gallery").replaceChildren(...tiles);
  chosen = 0;
  mark({ isFocused: false });
  part("said").textContent = `${question.condition} ${question.images.length} images`.trim();
}

function tile(image, place) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "verify-tile";
  button.dataset.pick = place;
  const picture = document.createElement("img");
  picture.src = image[given.picture];
  picture.alt = names.length > 1 ? `${names[place]} image` : `${names[0]} ${place + 1}`;
  button.append(picture);
  if (pickKeys[place]) {
    const key = document.createElement("kbd");
    key.textContent = pickKeys[place].toUpperCase();
    button.append(key);
  }
  return button;
}

function mark({ isFocused = true } = {}) {
  const tiles = [...part("gallery").children];
  tiles.forEach((one, place) => {
    one.tabIndex = given.arrows === "pick" || place === chosen ? 0 : -1;
  });
  if (isFocused) tiles[chosen]?.focus();
}

function state(title, text, canRetry = false) {
  part("stage").hidden = true;
  part("state").hidden = false;
  part("state-title").textContent = title;
  part("state-text").textContent = text;
  root.querySelector('[data-action="retry"]').hidden = !canRetry;
}

function ended(isOpen) {
  if (isOpen) state("All done", "You have answered everything. Undo takes the last one back.");
  else state("Closed", "An admin has closed this campaign. Your answers are kept.");
}

function heardProgress(found) {
  progress = found;
  part("progress").value = found.n_done;
  part("count").textContent = `${found.n_done} of ${found.n_total}`;
}

function tellSaved() {
  const words = { saved: "Saved", saving: "Saving…", retrying: "Kept here; trying again" };
  part("saved").textContent = words[outbox.state];
  const parked = outbox.parked;
  part("parked").hidden = parked.length === 0;
  if (parked.length) part("parked-text").textContent = `${parked.length}: ${parked[0].parked.message}`;
}

// ---- answering ----
function answer(choice, place, device, timeStamp) {
  if (!current || !gate.admits(timeStamp)) return;
  const { question, shownAt } = current;
  if (choice === "pick" && place >= question.images.length) return;
  if (choice === "pick" && !areShown()) {
    part("said").textContent = "The pictures are not here yet.";
    lookAgain();
    return;
  }
  send({ question: question.uid, choice, ...(choice === "pick" ? { place } : {}) }, device, shownAt);
  line.answered();
  next();
}

const pictures = () => [part("reference"), ...part("gallery").querySelectorAll("img")];

/** Whether the reference and all images of the gallery can be seen. */
function areShown() {
  return pictures().every(({ complete, naturalWidth }) => complete && naturalWidth > 0);
}

/** Ask again for pictures that did not come. */
function lookAgain() {
  if (!current) return;
  for (const image of pictures()) {
    if (image.complete && image.naturalWidth === 0) image.src = image.getAttribute("src");
  }
}

/** Follow an answer of another tab: the question is not asked here, too. */
function follow(body) {
  const shown = current?.question.uid;
  line.skip([body]);
  if (shown !== undefined && line.current()?.uid !== shown) next();
}

function send(body, device, shownAt) {
  const times = { shown_at: iso(shownAt), decided_at: iso(Math.max(steadyNow(), shownAt)) };
  outbox.add({ uuid: makeUuid(), ...body, device, ...times });
}

const iso = (moment) => new Date(moment).toISOString();

function next() {
  show();
  if (!current) state("Loading…", "");
  if (line.nLeft < AHEAD_MIN) fetchMore();
}

function undo(device) {
  const question = line.back();
  if (!question) return;
  send({ question: question.uid, choice: "withdrawn" }, device, steadyNow());
  show();
}

function move(way) {
  const tiles = [...part("gallery").children];
  if (!current || !tiles.length) return;
  const n_columns = tiles.filter((one) => one.offsetTop === tiles[0].offsetTop).length;
  const step = { left: -1, right: 1, up: -n_columns, down: n_columns }[way];
  const isOn = tiles.includes(document.activeElement);
  if (isOn && tiles[chosen + step]) chosen += step;
  mark();
}

function act(action, device, timeStamp) {
  const [verb, what] = action.split(" ");
  if (verb === "pick") answer("pick", Number(what), device, timeStamp);
  else if (ANSWERS.has(verb)) answer(verb, null, device, timeStamp);
  else if (verb === "undo") undo(device);
  else if (verb === "move") move(what);
  else if (verb === "guidelines") document.getElementById("guidelines").showModal();
  else if (verb === "retry") fetchMore();
  else if (verb === "release") for (const { uuid } of outbox.parked) outbox.release(uuid);
  else if (verb === "discard") for (const { uuid } of outbox.parked) outbox.discard(uuid);
}

document.addEventListener("keydown", (event) => {
  const isDialogOpen = Boolean(document.querySelector("dialog[open]"));
  const action = actionFor(event, keyMap, { isDialogOpen });
  if (!action) return;
  if (action === "enter") {
    const picked = document.activeElement?.dataset?.pick;
    if (picked === undefined) return; // Enter on another button is a click of its own
    event.preventDefault();
    answer("pick", Number(picked), "keyboard", event.timeStamp);
    return;
  }
  event.preventDefault();
  act(action, "keyboard", event.timeStamp);
});

root.addEventListener("click", (event) => {
  const button = event.target.closest("[data-pick], [data-action]");
  if (!button) return;
  const device = deviceOf(event);
  if (button.dataset.pick) act(`pick ${button.dataset.pick}`, device, event.timeStamp);
  else act(button.dataset.action, device, event.timeStamp);
});

window.addEventListener("online", () => {
  outbox.flush();
  lookAgain();
  fetchMore();
});
window.addEventListener("beforeunload", (event) => {
  if (!outbox.isKept && outbox.waiting.length > 0) event.preventDefault();
});

outbox.subscribe(tellSaved);
await outbox.open();
// what an earlier page has left counts as answered: do not ask it again
line.skip(outbox.waiting.map((record) => record.body));
heardProgress(progress);
tellSaved();
outbox.flush();
await fetchMore();
