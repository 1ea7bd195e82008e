/* Buttons that tick several boxes at once. */

/** `data-ticks="one|two"` ticks the boxes of these values, or unticks them if all are ticked. */
export function bindTickers(root = document) {
  const onClick = (event) => {
    const button = event.target.closest("[data-ticks]");
    if (!button) return;
    const values = new Set(button.dataset.ticks.split("|"));
    const boxes = [...root.querySelectorAll("input[type=checkbox]")].filter((box) => values.has(box.value));
    const all = boxes.every((box) => box.checked);
    for (const box of boxes) box.checked = !all;
    boxes[0]?.dispatchEvent(new Event("change", { bubbles: true }));
  };
  root.addEventListener("click", onClick);
  return () => root.removeEventListener("click", onClick);
}
