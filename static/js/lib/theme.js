/* A button that switches between light and dark, and remembers the choice. */

const KEY = "lookalike.theme";

export function currentTheme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Make `button` switch the theme; returns an undo. */
export function bindThemeButton(button) {
  const show = () => {
    const other = currentTheme() === "dark" ? "light" : "dark";
    button.setAttribute("aria-label", `Use the ${other} theme`);
    button.title = `Use the ${other} theme`;
  };
  const flip = () => {
    const theme = currentTheme() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      /* not remembered, but switched */
    }
    show();
  };
  show();
  button.addEventListener("click", flip);
  return () => button.removeEventListener("click", flip);
}
