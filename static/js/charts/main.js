/* Draws every <figure data-chart> from the JSON beside it, again when its width changes. */
import { drawing, legendOf } from "./draw.js";
import { bindDownloads } from "./download.js";

const MIN_WIDTH = 300;

/** Draw one figure; returns an undo. */
export function bindChart(figure) {
  const data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  const place = figure.querySelector("[data-chart-drawing]");
  const tools = figure.querySelector("[data-chart-tools]");
  const legend = legendOf(data);
  if (legend) place.before(legend);
  let drawnAt = 0;
  const redraw = () => {
    const width = Math.max(MIN_WIDTH, Math.floor(place.clientWidth));
    if (width === drawnAt) return;
    drawnAt = width;
    const svg = drawing(data, width);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-labelledby", `${figure.id}-title`);
    svg.setAttribute("aria-describedby", `${figure.id}-about`);
    place.replaceChildren(svg);
  };
  const watch = new ResizeObserver(redraw);
  watch.observe(place);
  redraw();
  tools.hidden = false;
  const undoDownloads = bindDownloads(tools, () => place.querySelector("svg"), data);
  return () => {
    watch.disconnect();
    undoDownloads();
    legend?.remove();
    place.replaceChildren();
    tools.hidden = true;
  };
}

for (const figure of document.querySelectorAll("figure[data-chart]")) bindChart(figure);
