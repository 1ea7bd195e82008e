/* A chart as a file: SVG and PNG that look the same without our style sheets, and its rows as CSV. */
import { seriesOf, sign } from "./draw.js";

const INHERITED = ["fill", "stroke", "color"];
const HEAD = 30;
const LEGEND_LINE = 20;
const FONT = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";
const PNG_SCALE = 2;

/** Make the buttons of a chart save it; returns an undo. */
export function bindDownloads(tools, findSvg, data) {
  const onClick = async (event) => {
    const kind = event.target.closest("button")?.dataset.save;
    if (!kind) return;
    if (kind === "csv") save(new Blob([csv(data)], { type: "text/csv" }), data, "csv");
    if (kind === "svg") save(svgBlob(findSvg(), data), data, "svg");
    if (kind === "png") save(await pngBlob(findSvg(), data), data, "png");
  };
  tools.addEventListener("click", onClick);
  return () => tools.removeEventListener("click", onClick);
}

/** Return the rows as CSV; text that a spreadsheet would run gets an apostrophe. */
export function csv(data) {
  const lines = [data.columns.map(([, title]) => cell(title))];
  for (const row of data.rows) lines.push(data.columns.map(([key]) => cell(row[key])));
  return lines.map((line) => `${line.join(",")}\n`).join("");
}

function cell(value) {
  if (value == null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^'*[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Return a copy of a drawing that stands alone: colours resolved, with title and legend. */
function standalone(svg, data) {
  const { width, height } = svg.viewBox.baseVal;
  const names = seriesOf(data);
  const legendHeight = names.length > 1 ? LEGEND_LINE * names.length : 0;
  const look = getComputedStyle(svg);
  const whole = element("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    width,
    height: height + HEAD + legendHeight,
    viewBox: `0 0 ${width} ${height + HEAD + legendHeight}`,
    "font-family": FONT,
    "font-size": 12,
    fill: look.color,
    color: look.color,
  });
  whole.append(text("title", data.title), text("desc", data.about));
  const paper = getComputedStyle(document.body).getPropertyValue("background-color");
  whole.append(element("rect", { width: "100%", height: "100%", fill: paper }));
  const title = text("text", data.title, { x: 12, y: 20, "font-size": 14, "font-weight": 600, fill: look.color });
  whole.append(title);
  if (legendHeight) whole.append(...names.flatMap((name, place) => legendLine(data, name, place, look.color)));
  const copy = resolved(svg);
  copy.setAttribute("y", HEAD + legendHeight);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  whole.append(copy);
  return whole;
}

function legendLine(data, name, place, ink) {
  const drawn = sign(data.kind, place);
  document.body.append(drawn); // its colour is only known on the page
  const copy = resolved(drawn);
  drawn.remove();
  copy.setAttribute("x", 12);
  copy.setAttribute("y", HEAD + LEGEND_LINE * place);
  return [copy, text("text", name, { x: 44, y: HEAD + LEGEND_LINE * place + 11, fill: ink })];
}

/** Copy a drawing with every colour as it is seen now. */
function resolved(svg) {
  const copy = svg.cloneNode(true);
  const before = [svg, ...svg.querySelectorAll("*")];
  const after = [copy, ...copy.querySelectorAll("*")];
  for (const [at, node] of before.entries()) {
    const style = getComputedStyle(node);
    for (const name of INHERITED) {
      const value = node.getAttribute(name);
      if (value && /var\(|currentcolor/i.test(value)) after[at].setAttribute(name, style[name]);
    }
    after[at].removeAttribute("style");
    after[at].removeAttribute("class");
  }
  return copy;
}

function svgBlob(svg, data) {
  const code = new XMLSerializer().serializeToString(standalone(svg, data));
  return new Blob([code], { type: "image/svg+xml" });
}

async function pngBlob(svg, data) {
  const url = URL.createObjectURL(svgBlob(svg, data));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * PNG_SCALE;
    canvas.height = image.naturalHeight * PNG_SCALE;
    const context = canvas.getContext("2d");
    context.scale(PNG_SCALE, PNG_SCALE);
    context.drawImage(image, 0, 0);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}

function save(blob, data, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${data.file}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function element(name, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (key !== "xmlns") made.setAttribute(key, value);
  return made;
}

function text(name, words, attributes) {
  const made = element(name, attributes);
  made.textContent = words;
  return made;
}
