/* The page of a catalog's map: loads it, and turns pointer, keys and buttons into views of it. */
import { areaText, KINDS, Pairs, Points, View } from "./points.js";
import { Sheet } from "./sheet.js";

const N_THUMBS = 24;
const REACH = 10; // pixels, of the pointer
const STEP = 0.25; // of the sheet, for a button that moves it
const ZOOM = 1.5;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const host = document.querySelector(".map");
const find = (selector) => host.querySelector(selector);
const canvas = find("canvas");
const parts = {
  tip: find(".map-tip"), wait: find(".map-wait"), thumbs: find(".map-thumbs"),
  words: find(".map-selected"), actions: find(".map-selection"), legend: find(".map-legend"),
};
const state = {
  view: new View(1, 1), points: null, pairs: null, selected: [], focus: -1, area: null,
  withLines: false,
};
const sheet = new Sheet(canvas, parts.legend, state);
let drags = "select";
let anchor = -1; // where a selection by keys began

load();

async function load() {
  try {
    const [points, pairs] = await Promise.all([read(host.dataset.points), host.dataset.pairs && read(host.dataset.pairs)]);
    state.points = new Points(points);
    state.pairs = pairs ? new Pairs(pairs, state.points.n) : null;
  } catch {
    parts.wait.textContent = "The map could not be loaded. Reload the page to try again.";
    return;
  }
  parts.wait.hidden = true;
  const counts = state.pairs?.counts ?? [state.points.n];
  for (const [kind, n] of counts.entries()) {
    const count = parts.legend.querySelector(`[data-kind="${KINDS[kind]}"] .count`);
    if (count) count.textContent = n.toLocaleString("en");
  }
  sheet.resize();
  state.view.whole();
  new ResizeObserver(() => sheet.resize()).observe(canvas);
  const recolour = () => sheet.readColours();
  new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  host.dataset.ready = "yes";
}

async function read(url) {
  const reply = await fetch(url, { credentials: "same-origin" });
  if (!reply.ok) throw new Error(`${reply.status}`);
  return reply.arrayBuffer();
}

const { view } = state;
const xyOf = (row) => [state.points.xy[2 * row], state.points.xy[2 * row + 1]];

/* ---- one image in focus ---- */

function focusOn(row) {
  if (row === state.focus) return;
  state.focus = row;
  sheet.redraw();
  parts.tip.hidden = row < 0;
  canvas.style.cursor = row < 0 ? "" : "pointer";
  if (row < 0) return;
  const uid = state.points.uid(row);
  const [image, words] = parts.tip.children;
  image.hidden = uid === null;
  if (uid !== null) image.src = pictureOf(uid);
  words.textContent = uid === null ? "This image was deleted." : wordsOf(row);
  const [px, py] = view.pixel(...xyOf(row));
  parts.tip.style.left = `${Math.min(Math.max(0, px + 14), view.width - parts.tip.offsetWidth)}px`;
  const above = py + 14 + parts.tip.offsetHeight > view.height;
  parts.tip.style.top = `${above ? Math.max(0, py - 14 - parts.tip.offsetHeight) : py + 14}px`;
}

const addressOf = (what, uid) => host.dataset[what].replace(host.dataset.uid, uid); // of an image
const pictureOf = (uid) => addressOf("picture", uid);

function wordsOf(row) {
  const { pairs } = state;
  if (!pairs || pairs.kind[row] === 0) return pairs ? "In no pair of the pool" : "";
  const said = [];
  if (pairs.kind[row] === KINDS.indexOf("query")) {
    const own = pairs.of.get(row) ?? [];
    const n = own.filter((at) => pairs.list[at + 2]).length;
    said.push(`Query: ${n} of ${own.length} pairs judged`);
  }
  if (pairs.n_pairs[row]) said.push(`Candidate: ${pairs.n_judged[row]} of ${pairs.n_pairs[row]} pairs judged`);
  return said.join("; ");
}

function open(row) {
  const uid = row >= 0 ? state.points.uid(row) : null;
  if (uid !== null) location.assign(addressOf("image", uid));
}

/* ---- a selection ---- */

function select(area) {
  state.area = area;
  state.selected = area ? state.points.inside(area) : [];
  const n = state.selected.length;
  parts.words.textContent = !area
    ? "Nothing is selected. Drag over the map, or select what is in view."
    : n === 0 ? "No image lies there." : n === 1 ? "1 image is selected." : `${n.toLocaleString("en")} images are selected.`;
  parts.actions.hidden = n === 0;
  if (n > 0) {
    const query = new URLSearchParams({ map: host.dataset.map, area: areaText(area) });
    parts.actions.querySelector("a").href = `${host.dataset.catalog}?${query}`;
  }
  parts.thumbs.replaceChildren(...spread(state.selected, N_THUMBS).map(thumb).filter(Boolean));
  sheet.redraw();
}

/** At most `n` of some rows, evenly over all. */
function spread(rows, n) {
  if (rows.length <= n) return rows;
  return Array.from({ length: n }, (_, place) => rows[Math.floor((place * rows.length) / n)]);
}

function thumb(row) {
  const uid = state.points.uid(row);
  if (uid === null) return null;
  const [entry, link, image] = ["li", "a", "img"].map((name) => document.createElement(name));
  link.href = addressOf("image", uid);
  Object.assign(image, { src: pictureOf(uid), alt: "Selected image", width: 64, height: 64, loading: "lazy" });
  link.append(image);
  entry.append(link);
  return entry;
}

/* ---- pointer ---- */

let drag = null;

canvas.addEventListener("pointerdown", (event) => {
  if (!state.points || event.button !== 0) return;
  canvas.setPointerCapture(event.pointerId);
  drag = { x: event.offsetX, y: event.offsetY, px: event.offsetX, py: event.offsetY, isFar: false };
});

canvas.addEventListener("pointermove", ({ offsetX: x, offsetY: y }) => {
  if (!state.points) return;
  if (!drag) {
    focusOn(state.points.nearest(...view.place(x, y), REACH / view.scale));
    return;
  }
  drag.isFar ||= Math.hypot(x - drag.x, y - drag.y) > 4;
  if (!drag.isFar) return;
  focusOn(-1);
  if (drags === "move") view.move(drag.px - x, drag.py - y);
  else state.area = view.area(drag.x, drag.y, x, y);
  [drag.px, drag.py] = [x, y];
  sheet.redraw();
});

canvas.addEventListener("pointerup", ({ offsetX: x, offsetY: y }) => {
  const done = drag;
  drag = null;
  if (!done || !state.points) return;
  if (done.isFar) {
    if (drags === "select") select(view.area(done.x, done.y, x, y));
  } else open(state.points.nearest(...view.place(x, y), REACH / view.scale));
});

canvas.addEventListener("pointercancel", () => {
  drag = null;
});
canvas.addEventListener("pointerleave", () => {
  if (!drag && document.activeElement !== canvas) focusOn(-1);
});
canvas.addEventListener("blur", () => focusOn(-1));
canvas.addEventListener("wheel", (event) => {
  if (!(event.ctrlKey || event.metaKey || document.activeElement === canvas)) return; // else the page scrolls
  event.preventDefault();
  view.zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
  sheet.redraw();
}, { passive: false });

/* ---- keys and buttons ---- */

canvas.addEventListener("keydown", (event) => {
  if (!state.points || event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  if (arrow) goTo(arrow, event.shiftKey);
  else if (event.key === "Enter") open(state.focus);
  else if (event.key === "Escape") select(null);
  else if (event.key === "+" || event.key === "=") act("in");
  else if (event.key === "-") act("out");
  else if (event.key === "0") act("whole");
  else return;
  event.preventDefault();
});

function goTo([dx, dy], isSelecting) {
  const from = state.focus;
  const to = from < 0 ? state.points.nearest(view.x, view.y, 2) : state.points.neighbour(from, dx, dy);
  if (to < 0) return;
  if (!isSelecting) anchor = -1;
  else if (anchor < 0) anchor = from < 0 ? to : from;
  view.show(...xyOf(to));
  focusOn(to);
  if (isSelecting) {
    const [[x, y], [x1, y1]] = [xyOf(anchor), xyOf(to)];
    select({ left: Math.min(x, x1), top: Math.min(y, y1), right: Math.max(x, x1), bottom: Math.max(y, y1) });
  }
}

const ACTS = {
  in: () => view.zoom(ZOOM),
  out: () => view.zoom(1 / ZOOM),
  whole: () => view.whole(),
  left: () => view.move(-STEP * view.width, 0),
  right: () => view.move(STEP * view.width, 0),
  up: () => view.move(0, -STEP * view.height),
  down: () => view.move(0, STEP * view.height),
  view: () => select(view.all),
  clear: () => {
    select(null);
    canvas.focus(); // the button that had the focus is gone
  },
  select: () => setDrags("select"),
  move: () => setDrags("move"),
};

function act(name) {
  if (!state.points) return;
  focusOn(-1);
  ACTS[name]();
  sheet.redraw();
}

function setDrags(what) {
  drags = what;
  for (const name of ["select", "move"]) find(`[data-do="${name}"]`).setAttribute("aria-pressed", String(name === what));
}

for (const button of host.querySelectorAll("button[data-do]")) {
  button.addEventListener("click", () => act(button.dataset.do));
}
find("[data-do='lines']")?.addEventListener("change", ({ target }) => {
  state.withLines = target.checked;
  sheet.redraw();
});
