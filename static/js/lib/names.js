/* A free name offered for one that is taken. */

/** `data-fills="NAME"` puts NAME into the field whose id the `[data-name-check]` around it gives. */
export function bindNameOffers(root = document) {
  const onClick = (event) => {
    const button = event.target.closest("[data-fills]");
    if (!button) return;
    const field = document.getElementById(button.closest("[data-name-check]").dataset.nameCheck);
    field.value = button.dataset.fills;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  };
  root.addEventListener("click", onClick);
  return () => root.removeEventListener("click", onClick);
}
