/* Folded sections: an address that names one opens it, and paper shows them all. */

/** Open the folded section that an address names, and all of them while the page is printed. */
export function bindFolds() {
  const folded = [...document.querySelectorAll("details.folded")];
  if (!folded.length) return;
  const reveal = () => {
    const named = folded.find((one) => `#${one.id}` === location.hash);
    if (!named) return;
    named.open = true;
    named.scrollIntoView();
  };
  let opened = [];
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => {
    opened = folded.filter((one) => !one.open);
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
  reveal();
}
