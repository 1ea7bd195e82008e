/* The page on which a judge verifies templates: shows one, takes the answer, keeps it safe. */
import { Gate, actionFor, KeyMap } from "../lib/keys.js";
import { Outbox } from "../lib/outbox.js";
import { openStore } from "../lib/stores.js";
import { makeUuid } from "../lib/uuid.js";
import { steadyNow } from "../lib/watch.js";
import { Api } from "../judge/api.js";
import { Line } from "./line.js";

const PICK_KEYS = [..."1234567890qwertyiopasdf"].filter((key) => key !== "s");
const ANSWERS = new Set(["none", "several", "bad_condition"]);
const MOVES = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
const AHEAD_MIN = 3;

const root = document.getElementById("verify");
const given = root.dataset;
const part = (name) => root.querySelector(`[data-part="${name}"]`);
const scope = `lookalike.verdicts.${given.person}.${given.campaign}`; // nobody sends another's

const line = new Line();
const gate = new Gate();
const api = new Api({ answers: given.answersUrl });
const outbox = new Outbox({
  store: await openStore(scope),
  send: (bodies) => api.answers(bodies),
  exclusive: (work) => (navigator.locks ? navigator.locks.request(scope, work) : work()),
  channel: "BroadcastChannel" in window ? new BroadcastChannel(scope) : null,
  onReply: (reply) => heardProgress(reply.progress),
});
let progress = { n_done: Number(given.nDone), n_total: Number(given.nTotal) };
let current = null; // {question, shownAt}
let chosen = 0; // the picture that the arrows are on
let isFetching = false;

const keyMap = new KeyMap({
  none: "n",
  several: "s",
  bad_condition: "b",
  undo: "u",
  enter: "Enter",
  ...Object.fromEntries(PICK_KEYS.map((key, place) => [`pick ${place}`, key])),
  ...Object.fromEntries(Object.entries(MOVES).map(([key, way]) => [`move ${way}`, key])),
});

// ---- supply ----
async function fetchMore() {
  if (isFetching) return;
  isFetching = true;
  try {
    const url = `${given.nextUrl}?but=${line.known().join(",")}`;
    const reply = await fetch(url, { credentials: "same-origin", redirect: "manual" });
    if (!reply.ok) throw new Error(String(reply.status));
    const body = await reply.json();
    line.add(body.questions);
    body.questions.forEach(preload);
    if (!current) show();
    if (!current) ended(body.is_open);
  } catch {
    if (!current) state("No connection", "Your answers are kept in this browser.", true);
  } finally {
    isFetching = false;
  }
}

function preload(question) {
  for (const { thumb_url } of [question.reference, ...question.images]) new Image().src = thumb_url;
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
  const tiles = question.images.map((image, place) => tile(image, place));
  part("gallery").replaceChildren(...tiles);
  chosen = 0;
  mark({ isFocused: false });
  part("said").textContent = `${question.condition}: ${question.images.length} images`;
}

function tile(image, place) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "verify-tile";
  button.dataset.pick = place;
  const picture = document.createElement("img");
  picture.src = image.thumb_url;
  picture.alt = `Image ${place + 1}`;
  button.append(picture);
  if (PICK_KEYS[place]) {
    const key = document.createElement("kbd");
    key.textContent = PICK_KEYS[place].toUpperCase();
    button.append(key);
  }
  return button;
}

function mark({ isFocused = true } = {}) {
  const tiles = [...part("gallery").children];
  tiles.forEach((one, place) => {
    one.tabIndex = place === chosen ? 0 : -1;
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
  if (isOpen) state("All done", "You have answered every template. Undo takes the last one back.");
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
  send({ template: question.uid, choice, ...(choice === "pick" ? { place } : {}) }, device, shownAt);
  line.answered();
  next();
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
  send({ template: question.uid, choice: "withdrawn" }, device, steadyNow());
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
  else if (verb === "retry") fetchMore();
  else if (verb === "release") for (const { uuid } of outbox.parked) outbox.release(uuid);
  else if (verb === "discard") for (const { uuid } of outbox.parked) outbox.discard(uuid);
}

document.addEventListener("keydown", (event) => {
  const action = actionFor(event, keyMap);
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
  const device = event.pointerType === "touch" ? "touch" : event.detail === 0 ? "keyboard" : "mouse";
  if (button.dataset.pick) act(`pick ${button.dataset.pick}`, device, event.timeStamp);
  else act(button.dataset.action, device, event.timeStamp);
});

outbox.subscribe(tellSaved);
await outbox.open();
// what an earlier page has left counts as answered: do not ask it again
line.skip(outbox.waiting.map((record) => record.body));
heardProgress(progress);
tellSaved();
outbox.flush();
await fetchMore();
