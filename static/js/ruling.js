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
const answers = [...form.querySelectorAll("[data-answers]")];
const isGraded = "graded" in form.dataset; // digits are grades, not reasons
const given = JSON.parse(document.getElementById("judge-default-keys").textContent);
const twins = isGraded
  ? Object.fromEntries([...answers.map((_, grade) => [String(grade), `grade ${grade}`]), [given.similar, ""], [given.different, ""]])
  : { ArrowRight: "similar", ArrowLeft: "different" };
const keys = new KeyMap(given, twins);
if (pair) {
  const { uid, query, candidate } = view.dataset;
  shelf.want([query, candidate], 2);
  pair.show({ uid, query: { url: query }, candidate: { url: candidate } });
}

function perform(action) {
  if (action === "later") root.querySelector('[data-action="later"]')?.click();
  else if (action === "undo") document.getElementById("take-back")?.requestSubmit();
  else if (pair && action === "zoom") pair.zoom.toggle();
  else if (pair && action === "blink") pair.toggleBlink();
  else if (pair && !pair.isReady) return;
  else if (action.startsWith("grade ")) answers[Number(action.slice(6))].click();
  else if (action === "different") answers[0].click();
  else if (action === "similar") answers.at(-1).click();
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
  const reason = isGraded ? null : form.querySelectorAll('[name="preset"]')[Number(event.key) - 1];
  const action = isRadio ? null : actionFor(event, keys);
  if (reason && actionFor(event, new KeyMap({ reason: keyName(event) }))) reason.checked = true;
  else if (action !== null) perform(action);
  else return;
  event.preventDefault();
});
