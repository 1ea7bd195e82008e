/* The points of a map and the pairs of a pool among them. Knows no document. */

const FULL = 65_535; // the far end of an axis, as it is stored
const CELLS = 128; // of the grid in which the nearest point is looked for, along each axis
const GONE = "00000000-0000-0000-0000-000000000000";

export const KINDS = ["rest", "unjudged", "partly", "judged", "query"]; // in the order of drawing

/** Points in [0, 1], from the server's file: all x and y as uint16, then a uid for each. */
export class Points {
  #uids;
  #cells;
  #starts;

  constructor(buffer) {
    this.n = buffer.byteLength / 20;
    const stored = new Uint16Array(buffer, 0, this.n * 2);
    this.xy = Float32Array.from(stored, (value) => value / FULL);
    this.#uids = new Uint8Array(buffer, this.n * 4);
    this.#index();
  }

  /** The uid of an image, or null where the image was deleted since. */
  uid(row) {
    const bytes = this.#uids.subarray(row * 16, row * 16 + 16);
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const uid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    return uid === GONE ? null : uid;
  }

  #index() {
    const cells = Array.from({ length: this.n }, (_, row) => this.#cell(this.xy[2 * row], this.xy[2 * row + 1]));
    this.#starts = new Uint32Array(CELLS * CELLS + 1);
    for (const cell of cells) this.#starts[cell + 1] += 1;
    for (let cell = 0; cell < CELLS * CELLS; cell += 1) this.#starts[cell + 1] += this.#starts[cell];
    const next = this.#starts.slice();
    this.#cells = new Uint32Array(this.n);
    for (let row = 0; row < this.n; row += 1) this.#cells[next[cells[row]]++] = row;
  }

  #cell(x, y) {
    const at = (value) => Math.min(CELLS - 1, Math.max(0, Math.floor(value * CELLS)));
    return at(y) * CELLS + at(x);
  }

  /** The rows in a rectangle, its edges included. */
  inside({ left, top, right, bottom }) {
    const rows = [];
    const [first, last] = [this.#cell(left, top), this.#cell(right, bottom)];
    const [x0, x1, y1] = [first % CELLS, last % CELLS, Math.floor(last / CELLS)];
    for (let y = Math.floor(first / CELLS); y <= y1; y += 1) {
      for (let at = this.#starts[y * CELLS + x0]; at < this.#starts[y * CELLS + x1 + 1]; at += 1) {
        const row = this.#cells[at];
        const [px, py] = [this.xy[2 * row], this.xy[2 * row + 1]];
        if (px >= left && px <= right && py >= top && py <= bottom) rows.push(row);
      }
    }
    return rows.sort((one, other) => one - other);
  }

  /** The row nearest to a place within `reach`, or -1. */
  nearest(x, y, reach) {
    let found = -1;
    let least = reach * reach;
    const near = { left: x - reach, top: y - reach, right: x + reach, bottom: y + reach };
    for (const row of this.inside(near)) {
      const distance = (this.xy[2 * row] - x) ** 2 + (this.xy[2 * row + 1] - y) ** 2;
      if (distance <= least) [found, least] = [row, distance];
    }
    return found;
  }

  /** The row to go to from `row` in a direction: near, and not far off the straight line; or -1. */
  neighbour(row, dx, dy) {
    const [x, y] = [this.xy[2 * row], this.xy[2 * row + 1]];
    let found = -1;
    let least = Infinity;
    for (let other = 0; other < this.n; other += 1) {
      const [ox, oy] = [this.xy[2 * other] - x, this.xy[2 * other + 1] - y];
      const along = ox * dx + oy * dy;
      const aside = Math.abs(ox * dy) + Math.abs(oy * dx);
      if (along <= 0 || aside > along) continue;
      const cost = along + 2 * aside;
      if (cost < least) [found, least] = [other, cost];
    }
    return found;
  }
}

/** The pairs of a pool by rows of the points, from the server's file; -1 is not on this map. */
export class Pairs {
  constructor(buffer, n) {
    const numbers = new Int32Array(buffer);
    const n_queries = numbers[0];
    this.kind = new Uint8Array(n); // place in KINDS
    this.list = numbers.subarray(1 + n_queries);
    this.of = new Map(); // row of a query -> where its pairs are in the list
    const judged = new Uint32Array(n);
    const all = new Uint32Array(n);
    for (let at = 0; at < this.list.length; at += 3) {
      const [query, candidate, isJudged] = this.list.subarray(at, at + 3);
      if (query >= 0) {
        if (!this.of.has(query)) this.of.set(query, []);
        this.of.get(query).push(at);
      }
      if (candidate < 0) continue;
      all[candidate] += 1;
      judged[candidate] += isJudged;
    }
    for (let row = 0; row < n; row += 1) {
      if (all[row]) this.kind[row] = judged[row] === 0 ? 1 : judged[row] < all[row] ? 2 : 3;
    }
    this.n_judged = judged;
    this.n_pairs = all;
    for (const query of numbers.subarray(1, 1 + n_queries)) if (query >= 0) this.kind[query] = 4;
  }

  /** How many images of each kind there are, in the order of KINDS. */
  get counts() {
    const counts = KINDS.map(() => 0);
    for (const kind of this.kind) counts[kind] += 1;
    return counts;
  }
}

/** What part of the map a sheet shows: its middle, and how many pixels one unit has. */
export class View {
  constructor(width, height) {
    this.resize(width, height);
    this.whole();
  }

  resize(width, height) {
    Object.assign(this, { width, height });
  }

  whole() {
    Object.assign(this, { x: 0.5, y: 0.5, scale: this.#least });
  }

  get #least() {
    return Math.max(1, Math.min(this.width, this.height) - 32);
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.place(px, py);
    this.scale = Math.min(400 * this.#least, Math.max(this.#least / 2, this.scale * factor));
    this.x = x - (px - this.width / 2) / this.scale;
    this.y = y - (py - this.height / 2) / this.scale;
    this.#keep();
  }

  /** Move by pixels: what is to the right comes into view for a positive `dx`. */
  move(dx, dy) {
    this.x += dx / this.scale;
    this.y += dy / this.scale;
    this.#keep();
  }

  /** Bring a place into view. */
  show(x, y) {
    const [px, py] = this.pixel(x, y);
    const edge = 24;
    this.move(
      Math.min(0, px - edge) + Math.max(0, px - this.width + edge),
      Math.min(0, py - edge) + Math.max(0, py - this.height + edge),
    );
  }

  #keep() {
    this.x = Math.min(1, Math.max(0, this.x));
    this.y = Math.min(1, Math.max(0, this.y));
  }

  pixel(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  place(px, py) {
    return [(px - this.width / 2) / this.scale + this.x, (py - this.height / 2) / this.scale + this.y];
  }

  /** The rectangle between two pixels, within the map. */
  area(px, py, qx, qy) {
    const [x, y] = this.place(Math.min(px, qx), Math.min(py, qy));
    const [x1, y1] = this.place(Math.max(px, qx), Math.max(py, qy));
    const keep = (value) => Math.min(1, Math.max(0, value));
    return { left: keep(x), top: keep(y), right: keep(x1), bottom: keep(y1) };
  }

  get all() {
    return this.area(0, 0, this.width, this.height);
  }
}

/** An area as the address of the catalog's page takes it. */
export function areaText({ left, top, right, bottom }) {
  return [left, top, right, bottom].map((edge) => Number(edge.toPrecision(5))).join(",");
}
