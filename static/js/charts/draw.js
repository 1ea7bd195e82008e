/* From a chart's data to an SVG: one function per kind. Colours are CSS variables, so a drawing
   follows the theme without being made again. */

const FONT_SIZE = 12;
const LETTER = 6.7; // average width of a letter at that size
const SERIES = [1, 2, 3, 4, 5, 6];
const DASHES = ["none", "6 3", "2 3", "8 3 2 3", "1 4", "10 4"];
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "wye"];

/** Return the colour of a series by its place. */
export const colour = (place) => `var(--series-${SERIES[place % SERIES.length]})`;

/** Return the names of the series in the order in which they first appear. */
export function seriesOf(data) {
  return [...new Set(data.rows.map((row) => row.series).filter(Boolean))];
}

/** Return a list that names each series beside its sign, or null for one series. */
export function legendOf(data) {
  const names = seriesOf(data);
  if (names.length < 2) return null;
  const list = document.createElement("ul");
  list.className = "chart-legend";
  for (const [place, name] of names.entries()) {
    const entry = document.createElement("li");
    entry.append(sign(data.kind, place), name);
    list.append(entry);
  }
  return list;
}

/** Return the small drawing that stands for a series. */
export function sign(kind, place) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("width", "26");
  svg.setAttribute("height", "14");
  svg.setAttribute("viewBox", "-13 -7 26 14");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(svg.namespaceURI, "path");
  if (kind === "lines") {
    path.setAttribute("d", "M-12 0H12");
    path.setAttribute("stroke", colour(place));
    path.setAttribute("stroke-width", "2.5");
    path.setAttribute("stroke-dasharray", DASHES[place % DASHES.length]);
  } else {
    const shape = d3.symbol().type(d3[`symbol${capital(SYMBOLS[place % SYMBOLS.length])}`]);
    path.setAttribute("d", shape.size(60)());
    path.setAttribute("fill", colour(place));
  }
  svg.append(path);
  return svg;
}

/** Return the SVG of a chart at a width; nothing in it needs an inline style sheet. */
export function drawing(data, width) {
  const svg = KINDS[data.kind](data, width);
  // Plot brings a <style> for pages without one; ours has these rules in a file, and the policy
  // of the site refuses style sheets in the page.
  for (const sheet of svg.querySelectorAll("style")) sheet.remove();
  // The drawing is one image with one name; its parts may not have names of their own.
  for (const part of svg.querySelectorAll("[aria-label]")) {
    part.dataset.mark = part.getAttribute("aria-label");
    part.removeAttribute("aria-label");
  }
  return svg;
}

const KINDS = { intervals, lines, histogram, heat, points, differences };

function frame(data, width, options) {
  return Plot.plot({
    width,
    className: "plot",
    style: { fontSize: `${FONT_SIZE}px` },
    ...options,
    x: { label: data.x.label, labelArrow: "none", domain: data.x.domain ?? undefined, ...options.x },
    y: { label: data.y.label, labelArrow: "none", domain: data.y.domain ?? undefined, ...options.y },
  });
}

function intervals(data, width) {
  const names = seriesOf(data);
  const labels = [...new Set(data.rows.map((row) => row.label))];
  const room = marginFor(labels, width);
  const several = names.length > 1;
  const place = (row) => Math.max(names.indexOf(row.series), 0);
  const stroke = (row) => colour(place(row));
  const band = several ? { fy: "label", y: "series" } : { y: "label" };
  const axis = { lineWidth: (room - 12) / FONT_SIZE, textOverflow: "ellipsis-start", label: null };
  return frame(data, width, {
    height: 56 + labels.length * Math.max(26, 17 * names.length),
    marginLeft: room,
    marginRight: 16,
    marginBottom: 40,
    x: { grid: true, ticks: Math.max(3, Math.floor((width - room) / 90)) },
    y: { domain: several ? names : labels, label: null, axis: null },
    fy: several ? { domain: labels, label: null, axis: null, padding: 0.12 } : undefined,
    marks: [
      several
        ? Plot.axisFy({ anchor: "left", textAnchor: "end", tickSize: 0, dx: 0, ...axis })
        : Plot.axisY({ tickSize: 0, ...axis }),
      ...(data.x.rule == null ? [] : [Plot.ruleX([data.x.rule], { stroke: "var(--line-strong)" })]),
      Plot.ruleY(data.rows.filter((row) => row.low != null), {
        ...band,
        x1: "low",
        x2: "high",
        stroke,
        strokeWidth: 2,
      }),
      Plot.dot(data.rows.filter((row) => row.value != null), {
        ...band,
        x: "value",
        r: 4.5,
        fill: stroke,
        symbol: (row) => SYMBOLS[place(row) % SYMBOLS.length],
        title: told(data),
        tip: true,
      }),
    ],
    symbol: { domain: SYMBOLS, range: SYMBOLS },
  });
}

function lines(data, width) {
  const names = seriesOf(data);
  const groups = names.length ? names : [undefined];
  const square = data.square ? Math.min(width, 460) : null;
  return frame(data, square ?? width, {
    height: square ?? Math.min(340, Math.max(240, width * 0.5)),
    marginLeft: 52,
    marginBottom: 42,
    x: { grid: true, ticks: data.x.whole ? wholeTicks(data.rows, width) : 5, tickFormat: tick(data.x) },
    y: { grid: true, ticks: 5 },
    marks: [
      ...(data.guide ? [Plot.line(data.guide, { x: "x", y: "y", stroke: "var(--line-strong)", strokeDasharray: "3 4" })] : []),
      ...groups.map((name, place) =>
        Plot.line(
          data.rows.filter((row) => row.series === name && row.y != null),
          { x: "x", y: "y", stroke: colour(place), strokeWidth: 2.2, strokeDasharray: DASHES[place % DASHES.length] },
        ),
      ),
      ...(data.dots
        ? groups.map((name, place) =>
            Plot.dot(data.rows.filter((row) => row.series === name && row.y != null), {
              x: "x", y: "y", r: 3.5, fill: colour(place), symbol: SYMBOLS[place % SYMBOLS.length],
            }),
          )
        : []),
      Plot.tip(data.rows.filter((row) => row.y != null), Plot.pointer({ x: "x", y: "y", title: told(data) })),
    ],
  });
}

function histogram(data, width) {
  return frame(data, width, {
    height: 240,
    marginLeft: 52,
    marginBottom: 42,
    x: { ticks: 6 },
    y: { grid: true, ticks: 5 },
    marks: [
      Plot.rectY(data.rows, { x1: "x1", x2: "x2", y: "y", fill: colour(0), insetLeft: 1, insetRight: 1, title: told(data), tip: true }),
      Plot.ruleY([0], { stroke: "var(--line-strong)" }),
    ],
  });
}

function heat(data, width) {
  const names = [...new Set(data.rows.map((row) => row.row))];
  const room = marginFor(names, width);
  const cell = Math.min(64, (width - room - 8) / names.length);
  const letter = (name) => String.fromCharCode(65 + (names.indexOf(name) % 26));
  const most = Math.max(...data.rows.filter((row) => row.row !== row.column).map((row) => row.value ?? 0), 1e-9);
  return frame(data, room + cell * names.length + 8, {
    height: 34 + Math.max(26, Math.min(cell, 40)) * names.length,
    marginLeft: room,
    marginTop: 28,
    marginRight: 8,
    marginBottom: 6,
    x: { domain: names, axis: null, label: null, padding: 0.04 },
    y: { domain: names, axis: null, label: null, padding: 0.04 },
    marks: [
      Plot.axisX({ anchor: "top", tickSize: 0, tickFormat: letter, label: null }),
      Plot.axisY({ tickSize: 0, tickFormat: (name) => `${name}  ${letter(name)}`, label: null, lineWidth: (room - 10) / FONT_SIZE, textOverflow: "ellipsis-start" }),
      // never so dark that the text on it would need another colour
      Plot.cell(data.rows.filter((row) => row.row !== row.column), {
        x: "column", y: "row", fill: "var(--accent)", fillOpacity: (row) => (0.45 * (row.value ?? 0)) / most,
      }),
      Plot.text(data.rows, {
        x: "column", y: "row", fill: "currentColor", fontSize: cell < 34 ? 9 : 11,
        text: (row) => (row.row === row.column ? "–" : row.value == null ? "" : `${Math.round(100 * row.value)}`),
        title: told(data),
      }),
    ],
    opacity: { type: "identity" },
  });
}

function points(data, width) {
  const names = seriesOf(data);
  const place = (row) => Math.max(names.indexOf(row.series), 0);
  return frame(data, width, {
    height: 280,
    marginLeft: 52,
    marginBottom: 42,
    x: { grid: true, ticks: data.x.whole ? wholeTicks(data.rows, width) : 6, tickFormat: tick(data.x) },
    y: { grid: true, ticks: 5 },
    symbol: { domain: SYMBOLS, range: SYMBOLS },
    marks: [
      Plot.dot(data.rows.filter((row) => row.y != null), {
        x: "x", y: "y", r: 4.5, fill: (row) => colour(place(row)), fillOpacity: 0.75,
        symbol: (row) => SYMBOLS[place(row) % SYMBOLS.length], title: told(data), tip: true,
      }),
    ],
  });
}

function differences(data, width) {
  return frame(data, width, {
    height: 260,
    marginLeft: 52,
    marginBottom: 42,
    x: { ticks: 6 },
    y: { grid: true, ticks: 5 },
    marks: [
      Plot.rectY(data.rows, {
        x1: (row) => row.x - 0.5, x2: (row) => row.x + 0.5, y: "y",
        fill: (row) => colour(row.y > 0 ? 0 : 1),
        insetLeft: data.rows.length < 200 ? 0.5 : 0, insetRight: data.rows.length < 200 ? 0.5 : 0,
        title: told(data), tip: true,
      }),
      Plot.ruleY([0], { stroke: "var(--line-strong)" }),
    ],
  });
}

/** Return a function that says a row in words, from the columns of the data table. */
function told(data) {
  return (row) => data.columns.map(([key, title]) => `${title}: ${shown(row[key])}`).join("\n");
}

const shown = (value) => {
  if (value == null) return "–";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  return String(Number(value.toFixed(4)));
};

const capital = (word) => word[0].toUpperCase() + word.slice(1);
const tick = (axis) => (axis.whole ? (value) => String(value) : undefined);

/** Whole numbers among those of the rows, few enough for a width; each, or every second, fifth, tenth… */
export function wholeTicks(rows, width) {
  const values = [...new Set(rows.map((row) => row.x))].sort((a, b) => a - b);
  const least = values.length / Math.min(12, Math.max(3, Math.floor(width / 45)));
  const tens = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const step = [1, 2, 5, 10].map((times) => times * tens).find((each) => each >= least) ?? 10 * tens;
  return values.filter((_, at) => at % step === 0);
}

function marginFor(labels, width) {
  const longest = Math.max(...labels.map((label) => String(label).length), 4);
  return Math.round(Math.min(longest * LETTER + 22, width * 0.45));
}
