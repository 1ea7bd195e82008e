/* What every page has: theme button, menus, dialogs, confirmations, job panels. */
import { bindCopyButtons } from "./lib/copy.js";
import { bindConfirmations, bindDialogs } from "./lib/dialogs.js";
import { bindFolds } from "./lib/folds.js";
import { bindJobEnd } from "./lib/jobs.js";
import { bindMenus } from "./lib/menu.js";
import { bindNameOffers } from "./lib/names.js";
import { bindThemeButton } from "./lib/theme.js";

for (const button of document.querySelectorAll("[data-theme-button]")) bindThemeButton(button);
bindMenus();
bindDialogs();
bindConfirmations();
bindCopyButtons();
bindFolds();
bindNameOffers();
bindJobEnd();

// on a narrow screen, tabs scroll: bring the current one into view
for (const link of document.querySelectorAll(":is(.tabs, .site-nav) [aria-current]")) {
  const strip = link.closest(".tabs, .site-nav");
  const [inner, outer] = [link.getBoundingClientRect(), strip.getBoundingClientRect()];
  strip.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
}
