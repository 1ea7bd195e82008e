/* The entry of the page on which a judge answers templates or triplets: joins the parts. */
import { Api } from "../judge/api.js";
import { actionFor, deviceOf } from "../lib/keys.js";
import { pageOutbox } from "../lib/page_outbox.js";
import { steadyNow } from "../lib/watch.js";
import { Desk } from "./desk.js";
import { Gallery } from "./gallery.js";
import { keyMapOf } from "./keys.js";
import { Line } from "./line.js";
import { Panels } from "./panels.js";
import { Session } from "./session.js";

const CHOICES = new Set(["none", "several", "bad_condition", "cant_tell"]);

const root = document.getElementById("verify");
const page = root.dataset;
const parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
const now = () => steadyNow();
const line = new Line();
const api = new Api({ next: page.nextUrl, answers: page.answersUrl }, page.person);
const panels = new Panels(parts, root.querySelector('[data-action="retry"]'));
const gallery = new Gallery(parts, {
  names: page.names.split(","),
  pickKeys: page.pickKeys,
  picture: page.picture,
  isMovedIn: page.arrows === "move",
});
// nobody sends another's answers
const outbox = await pageOutbox(`lookalike.verdicts.${page.person}.${page.campaign}`, {
  send: (bodies) => api.answers(bodies),
  onReply: ({ progress }) => panels.showProgress(progress),
  onAddedElsewhere: (body) => desk.follow(body),
});
const session = new Session({ line, outbox, now });
const desk = new Desk({ api, line, session, gallery, panels, now });
const keys = keyMapOf({
  pickKeys: page.pickKeys,
  arrows: page.arrows,
  buttons: [...root.querySelectorAll("[data-keys]")].map(({ dataset }) => dataset),
});

function act(action, device, timeStamp) {
  const [verb, object] = action.split(" ");
  if (verb === "pick") desk.answer("pick", { place: Number(object), device, timeStamp });
  else if (CHOICES.has(verb)) desk.answer(verb, { device, timeStamp });
  else if (verb === "undo") desk.undo({ device });
  else if (verb === "move") desk.move(object);
  else if (verb === "guidelines") document.getElementById("guidelines").showModal();
  else if (verb === "retry") desk.fill();
  else if (verb === "release") for (const { uuid } of outbox.parked) outbox.release(uuid);
  else if (verb === "discard") for (const { uuid } of outbox.parked) outbox.discard(uuid);
}

document.addEventListener("keydown", (event) => {
  const isDialogOpen = document.querySelector("dialog[open]") !== null;
  const action = actionFor(event, keys, { isDialogOpen });
  if (!action) return;
  const place = document.activeElement?.dataset?.pick;
  if (action === "enter" && place === undefined) return; // Enter on another button is a click of its own
  event.preventDefault();
  act(action === "enter" ? `pick ${place}` : action, "keyboard", event.timeStamp);
});

root.addEventListener("click", (event) => {
  const button = event.target.closest("[data-pick], [data-action]");
  if (!button) return;
  const { pick, action } = button.dataset;
  act(pick ? `pick ${pick}` : action, deviceOf(event), event.timeStamp);
});

window.addEventListener("online", () => desk.lookAgain());

outbox.subscribe(() => panels.showSaved(outbox));
await outbox.open();
// what an earlier page has left counts as answered: do not ask it again
line.skip(outbox.waiting.map(({ body }) => body));
panels.showProgress({ n_done: Number(page.nDone), n_total: Number(page.nTotal) });
panels.showSaved(outbox);
outbox.flush();
await desk.fill();
