/* What answers and keys are called on the page; signs and words together, never colour alone. */

export const ANSWERS = {
  similar: { sign: "≈", word: "Similar" },
  different: { sign: "≠", word: "Different" },
  cant_tell: { sign: "?", word: "Can’t tell" },
  skip: { sign: "»", word: "Skipped" },
  later: { sign: "↷", word: "Later" },
  withdrawn: { sign: "↶", word: "Taken back" },
};

export const ACTIONS = {
  similar: "Similar",
  different: "Different",
  cant_tell: "Can’t tell",
  skip: "Skip, with a reason",
  later: "Later",
  undo: "Undo",
  zoom: "Zoom, or look closer on a sheet",
  blink: "Blink comparison",
  rest_different: "The rest are different",
  mode: "Pair or sheet",
  guidelines: "Guidelines",
  help: "Keys",
};

const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

export function keyLabel(key) {
  return NAMES[key] ?? key.toUpperCase();
}

/** A small mark that says an answer: a sign, with its word for screen readers. */
export function markOf(answer) {
  const mark = document.createElement("span");
  mark.className = "mark";
  mark.dataset.answer = answer;
  mark.textContent = ANSWERS[answer].sign;
  mark.setAttribute("aria-hidden", "true");
  return mark;
}
