/* Buttons that open and close <dialog> elements, and forms that ask before they send. */

/**
 * `data-opens="id"` opens that dialog, `data-closes` closes the one around it, and a click on the
 * veil closes too. Returns an undo.
 */
export function bindDialogs(root = document) {
  const onClick = (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) {
      document.getElementById(opener.dataset.opens)?.showModal();
      return;
    }
    if (event.target.closest("[data-closes]")) {
      event.target.closest("dialog")?.close();
      return;
    }
    if (event.target.matches("dialog[open]") && isOutside(event)) event.target.close();
  };
  root.addEventListener("click", onClick);
  return () => root.removeEventListener("click", onClick);
}

function isOutside(event) {
  const box = event.target.getBoundingClientRect();
  return (
    event.clientX < box.left ||
    event.clientX > box.right ||
    event.clientY < box.top ||
    event.clientY > box.bottom
  );
}

/** A form or button with `data-confirm="question"` asks before it is sent; returns an undo. */
export function bindConfirmations(root = document) {
  const onSubmit = (event) => {
    const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
    if (question && !window.confirm(question)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  root.addEventListener("submit", onSubmit, true);
  return () => root.removeEventListener("submit", onSubmit, true);
}
