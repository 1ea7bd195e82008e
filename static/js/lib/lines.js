/* Buttons that add lines to a text field. */

/** Return `text` with those of `lines` appended that it does not hold yet. */
export function withLines(text, lines) {
  const held = new Set(text.split("\n").map((line) => line.trim()));
  const kept = text.trim() === "" ? [] : [text.replace(/\s+$/, "")];
  return [...kept, ...lines.filter((line) => !held.has(line))].join("\n");
}

/**
 * `data-adds="one|two"` adds lines to the field whose id the nearest
 * `data-adds-to` gives. Buttons are shown only where this runs. Returns an undo.
 */
export function bindLineAdders(root = document) {
  for (const button of root.querySelectorAll("[data-adds][hidden]")) button.hidden = false;
  const onClick = (event) => {
    const button = event.target.closest("[data-adds]");
    if (!button) return;
    const field = document.getElementById(button.closest("[data-adds-to]").dataset.addsTo);
    field.value = withLines(field.value, button.dataset.adds.split("|"));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  root.addEventListener("click", onClick);
  return () => root.removeEventListener("click", onClick);
}
