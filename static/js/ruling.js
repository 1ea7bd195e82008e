/* Ruling on a question: the judging page's keys and its care about Enter, of a pair its view too. */
import { PairView } from "./judge/pair.js";
import { ImageShelf } from "./lib/images.js";
import { KeyMap, actionFor, keyName } from "./lib/keys.js";
import { VisibleTime, steadyNow } from "./lib/watch.js";

const root = document.getElementById("ruling");
const form = root.querySelector("[data-ruling]");
const view = root.querySelector('[data-view="pair"]');
const shelf = new ImageShelf();
const pair = view && new PairView(view, { shelf, visible: new VisibleTime(), now: () => steadyNow() });
const [first, last] = form.querySelectorAll("[data-answers]");
const keys = new KeyMap(JSON.parse(document.getElementById("judge-default-keys").textContent), {
  ArrowRight: "similar",
  ArrowLeft: "different",
});
if (pair) {
  const { uid, query, candidate } = view.dataset;
  shelf.want([query, candidate], 2);
  pair.show({ uid, query: { url: query }, candidate: { url: candidate } });
}

function perform(action) {
  if (action === "later") root.querySelector('[data-action="later"]')?.click();
  else if (pair && action === "zoom") pair.zoom.toggle();
  else if (pair && action === "blink") pair.toggleBlink();
  else if (pair && !pair.isReady) return;
  else if (action === "different") first.click();
  else if (action === "similar") last.click();
}

root.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-action]");
  if (button) perform(button.dataset.action);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.closest?.("[data-answers]")) {
    event.preventDefault(); // Enter never rules
    return;
  }
  if (pair?.pan(event)) {
    event.preventDefault();
    return;
  }
  const isRadio = event.target.type === "radio" && event.key.startsWith("Arrow");
  const reason = form.querySelectorAll('[name="preset"]')[Number(event.key) - 1];
  const action = isRadio ? null : actionFor(event, keys);
  if (reason && actionFor(event, new KeyMap({ reason: keyName(event) }))) reason.checked = true;
  else if (action !== null) perform(action);
  else return;
  event.preventDefault();
});
