/* Runs before the first paint, so that a remembered theme does not flash. Not a module on purpose. */
(() => {
  try {
    const theme = localStorage.getItem("lookalike.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    /* storage is switched off: the system's theme it is */
  }
})();
