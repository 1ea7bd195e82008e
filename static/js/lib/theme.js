/* A button that switches between light and dark, and remembers the choice. */
import { gettext } from "./words.js";

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
    const words = other === "dark" ? gettext("Use the dark theme") : gettext("Use the light theme");
    button.setAttribute("aria-label", words);
    button.title = words;
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
