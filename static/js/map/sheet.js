/* Draws a map on a canvas; colours are those of the legend, so that it follows the theme. */
import { KINDS } from "./points.js";

const MANY = 20_000; // points, above which each is drawn smaller

export class Sheet {
  #frame = 0;
  #colours = {};

  constructor(canvas, legend, state) {
    Object.assign(this, { canvas, legend, state });
    this.readColours();
  }

  /** Read the colours of the legend's signs: after a change of the theme, too. */
  readColours() {
    for (const sign of this.legend.querySelectorAll("[data-kind]")) {
      this.#colours[sign.dataset.kind] = getComputedStyle(sign.firstElementChild).color;
    }
    this.#colours.ink = getComputedStyle(this.canvas).color;
    this.redraw();
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.state.view.resize(width, height);
    this.redraw();
  }

  /** Draw again before the next paint, once. */
  redraw() {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const { view, points, pairs, selected, focus, area, withLines } = this.state;
    if (!points) return;
    const context = this.canvas.getContext("2d");
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    if (pairs && withLines) this.#lines(context, pairs.list.length / 3, (n) => 3 * n, Math.min(0.5, 200 / Math.sqrt(pairs.list.length) / 20));
    const zoomed = Math.sqrt(view.scale / Math.min(view.width, view.height));
    const size = Math.min(7, (points.n > MANY ? 1.6 : 3) * Math.max(1, zoomed));
    for (const [kind, name] of KINDS.entries()) this.#dots(context, kind, name, size);
    context.strokeStyle = this.#colours.ink;
    context.lineWidth = 1;
    this.#rings(context, selected, size / 2 + 2);
    if (area) {
      context.lineWidth = 1.5;
      const [x, y] = view.pixel(area.left, area.top);
      const [x1, y1] = view.pixel(area.right, area.bottom);
      context.setLineDash([5, 4]);
      context.strokeRect(x, y, x1 - x, y1 - y);
      context.setLineDash([]);
    }
    if (focus >= 0) {
      const own = pairs?.of.get(focus) ?? [];
      this.#lines(context, own.length, (n) => own[n], 0.9);
      context.strokeStyle = this.#colours.ink;
      context.lineWidth = 2.5;
      this.#rings(context, [focus], size / 2 + 5);
    }
  }

  #dots(context, kind, name, size) {
    const { view, points, pairs } = this.state;
    const isQuery = name === "query";
    if (!this.#colours[name] || (kind && !pairs)) return;
    context.fillStyle = context.strokeStyle = this.#colours[name];
    context.lineWidth = 1.4;
    const wide = kind ? size + 2.5 : size;
    const offset = [view.width / 2 - view.x * view.scale, view.height / 2 - view.y * view.scale];
    context.globalAlpha = kind === 0 && pairs ? 0.5 : 1;
    for (let row = 0; row < points.n; row += 1) {
      if (pairs && pairs.kind[row] !== kind) continue;
      const px = points.xy[2 * row] * view.scale + offset[0];
      const py = points.xy[2 * row + 1] * view.scale + offset[1];
      if (px < -9 || py < -9 || px > view.width + 9 || py > view.height + 9) continue;
      if (isQuery) {
        const half = wide / 2 + 2;
        context.beginPath();
        context.moveTo(px, py - half);
        context.lineTo(px + half, py);
        context.lineTo(px, py + half);
        context.lineTo(px - half, py);
        context.fill();
      } else if (name === "unjudged") {
        context.strokeRect(px - wide / 2, py - wide / 2, wide, wide);
      } else {
        context.fillRect(px - wide / 2, py - wide / 2, wide, wide);
        if (name === "partly") context.clearRect(px, py - wide / 2 + 1, wide / 2 - 1, wide - 2);
      }
    }
    context.globalAlpha = 1;
  }

  #rings(context, rows, radius) {
    const { view, points } = this.state;
    context.beginPath();
    for (const row of rows) {
      const [px, py] = view.pixel(points.xy[2 * row], points.xy[2 * row + 1]);
      context.moveTo(px + radius, py);
      context.arc(px, py, radius, 0, 2 * Math.PI);
    }
    context.stroke();
  }

  /** Draw `n` pairs, the judged ones solid and the others dashed. */
  #lines(context, n, at, alpha) {
    const { view, points, pairs } = this.state;
    context.globalAlpha = alpha;
    context.lineWidth = 1;
    for (const isJudged of [0, 1]) {
      context.strokeStyle = this.#colours[isJudged ? "judged" : "unjudged"];
      context.setLineDash(isJudged ? [] : [3, 3]);
      context.beginPath();
      for (let number = 0; number < n; number += 1) {
        const [query, candidate, judged] = pairs.list.subarray(at(number), at(number) + 3);
        if (judged !== isJudged || query < 0 || candidate < 0) continue;
        context.moveTo(...view.pixel(points.xy[2 * query], points.xy[2 * query + 1]));
        context.lineTo(...view.pixel(points.xy[2 * candidate], points.xy[2 * candidate + 1]));
      }
      context.stroke();
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }
}
