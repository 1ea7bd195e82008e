/* <details> menus that close on Escape and on a click elsewhere. */

/** Watch every open `details.menu` below `root`; returns an undo. */
export function bindMenus(root = document) {
  const close = (keep) => {
    for (const menu of root.querySelectorAll("details.menu[open]")) {
      if (menu !== keep) menu.open = false;
    }
  };
  const onClick = (event) => close(event.target.closest("details.menu"));
  const onKey = (event) => {
    if (event.key !== "Escape") return;
    const open = root.querySelector("details.menu[open]");
    if (!open) return;
    open.open = false;
    open.querySelector("summary").focus();
  };
  root.addEventListener("click", onClick);
  root.addEventListener("keydown", onKey);
  return () => {
    root.removeEventListener("click", onClick);
    root.removeEventListener("keydown", onKey);
  };
}
