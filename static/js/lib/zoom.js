/*
 * Zoom and pan that several pictures share. The state is in shares of a picture, so that two
 * pictures of different size show the same place.
 */

export const MAX_SCALE = 8;

export const FITTED = Object.freeze({ scale: 1, x: 0.5, y: 0.5 });

/** Keep the centre so near that the picture does not leave its frame. */
export function clamped({ scale, x, y }) {
  const s = Math.min(MAX_SCALE, Math.max(1, scale));
  const margin = 0.5 / s;
  const keep = (value) => Math.min(1 - margin, Math.max(margin, value));
  return { scale: s, x: keep(x), y: keep(y) };
}

/**
 * Zoom by `factor` so that the point under the pointer stays where it is.
 * @param at {x, y} in shares of the frame, 0 to 1.
 */
export function zoomedAt(view, factor, at) {
  const scale = Math.min(MAX_SCALE, Math.max(1, view.scale * factor));
  const shift = 1 / view.scale - 1 / scale;
  return clamped({
    scale,
    x: view.x + (at.x - 0.5) * shift,
    y: view.y + (at.y - 0.5) * shift,
  });
}

/** Move the picture by shares of the frame. */
export function panned(view, dx, dy) {
  return clamped({ ...view, x: view.x - dx / view.scale, y: view.y - dy / view.scale });
}

/** The CSS transform of a picture that fills its frame. */
export function transformOf({ scale, x, y }) {
  const shift = (value) => `${((0.5 - value) * 100 * scale).toFixed(3)}%`;
  return `translate(${shift(x)}, ${shift(y)}) scale(${scale.toFixed(4)})`;
}

/**
 * Let wheel, drag, pinch and double click on any of `frames` move the pictures in all of them.
 * Each frame's `[data-zooms]` child is transformed. Returns {set, get, toggle, by, pan, undo};
 * `pan` looks further to the right and down, by shares of the frame.
 */
export function bindLinkedZoom(frames, { onChange = () => {} } = {}) {
  let view = FITTED;
  const pointers = new Map();
  const undo = [];
  const listen = (target, type, handler, options) => {
    target.addEventListener(type, handler, options);
    undo.push(() => target.removeEventListener(type, handler, options));
  };
  const set = (next) => {
    view = clamped(next);
    const transform = transformOf(view);
    for (const frame of frames) {
      const zoomed = frame.querySelector("[data-zooms]");
      if (zoomed) zoomed.style.transform = transform;
      frame.classList.toggle("is-zoomed", view.scale > 1);
    }
    onChange(view);
  };
  const place = (frame, event) => {
    const box = frame.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  };

  for (const frame of frames) {
    listen(
      frame,
      "wheel",
      (event) => {
        event.preventDefault();
        set(zoomedAt(view, Math.exp(-event.deltaY / 300), place(frame, event)));
      },
      { passive: false },
    );
    listen(frame, "dblclick", (event) => {
      set(view.scale > 1 ? FITTED : zoomedAt(view, 3, place(frame, event)));
    });
    listen(frame, "pointerdown", (event) => {
      if (event.button !== 0) return;
      pointers.set(event.pointerId, place(frame, event));
      frame.setPointerCapture(event.pointerId);
    });
    listen(frame, "pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const after = place(frame, event);
      pointers.set(event.pointerId, after);
      if (pointers.size === 1) set(panned(view, after.x - before.x, after.y - before.y));
      else pinch(event.pointerId, before, after);
    });
    for (const type of ["pointerup", "pointercancel"]) {
      listen(frame, type, (event) => pointers.delete(event.pointerId));
    }
  }

  const pinch = (id, before, after) => {
    const [other] = [...pointers].filter(([key]) => key !== id).map(([, point]) => point);
    const distance = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 0.01;
    const middle = { x: (after.x + other.x) / 2, y: (after.y + other.y) / 2 };
    set(zoomedAt(view, distance(after) / distance(before), middle));
  };

  return {
    set,
    get: () => view,
    toggle: () => set(view.scale > 1 ? FITTED : { ...view, scale: 2.5 }),
    pan: (dx, dy) => set(panned(view, -dx, -dy)),
    by: (factor) => set(zoomedAt(view, factor, { x: 0.5, y: 0.5 })),
    undo: () => undo.forEach((step) => step()),
  };
}
