/* Buttons that copy the value of a field: `data-copies="id of the field"`. */
import { gettext } from "./words.js";

/** Bind every copy button below `root`; returns an undo. */
export function bindCopyButtons(root = document) {
  const onClick = async (event) => {
    const button = event.target.closest("[data-copies]");
    if (!button) return;
    const field = document.getElementById(button.dataset.copies);
    const said = button.textContent;
    try {
      await navigator.clipboard.writeText(field.value ?? field.textContent);
      button.textContent = gettext("Copied");
    } catch {
      field.select?.();
      button.textContent = gettext("Press Ctrl+C");
    }
    setTimeout(() => {
      button.textContent = said;
    }, 2000);
  };
  root.addEventListener("click", onClick);
  return () => root.removeEventListener("click", onClick);
}
