/* What answers and keys are called on the page; signs and words together, never colour alone. */
import { fill, gettext } from "../lib/words.js";

export const ANSWERS = {
  similar: { sign: "≈", word: gettext("Similar") },
  different: { sign: "≠", word: gettext("Different") },
  cant_tell: { sign: "?", word: gettext("Can’t tell") },
  skip: { sign: "»", word: gettext("Skipped") },
  none: { sign: "∅", word: gettext("None of them") },
  several: { sign: "+", word: gettext("Several") },
  bad_condition: { sign: "!", word: gettext("Bad condition") },
  later: { sign: "↷", word: gettext("Later") },
  withdrawn: { sign: "↶", word: gettext("Taken back") },
};

/** Name the grades of this campaign, given as [answer, word] from the lowest. */
export function nameGrades(grades) {
  for (const [answer, word] of grades) ANSWERS[answer] = { sign: gradeOf(answer), word };
}

const UNGRADED = new Set(["similar", "different", "rest_different", "mode"]); // not where there are grades
const gradeOf = (answer) => answer.split(":")[1] ?? "";
const sideOf = (answer) => answer.split(":")[0];

/** Whether an answer is as known: the same, or a grade next to it on the same side. */
export function agrees(answer, known) {
  if (answer === known || answer.startsWith(PICK)) return answer === known;
  return sideOf(answer) === sideOf(known) && Math.abs(gradeOf(answer) - gradeOf(known)) <= 1;
}

/** A key map in which digits are the grades; what had one of these keys gets its default back. */
export function gradeKeys(keys, grades, defaults) {
  const used = Object.fromEntries(grades.map(([answer]) => [answer, gradeOf(answer)]));
  const isFree = (key) => !Object.values(used).includes(key);
  const others = Object.keys(keys).filter((action) => !UNGRADED.has(action));
  for (const from of [keys, defaults]) {
    for (const action of others) if (!(action in used) && isFree(from[action])) used[action] = from[action];
  }
  return used;
}

export const ACTIONS = {
  similar: gettext("Similar"),
  different: gettext("Different"),
  cant_tell: gettext("Can’t tell"),
  skip: gettext("Skip, with a reason"),
  later: gettext("Later"),
  comment: gettext("Ask an admin"),
  undo: gettext("Undo"),
  zoom: gettext("Zoom, or look closer on a sheet"),
  blink: gettext("Blink comparison"),
  rest_different: gettext("The rest are different"),
  mode: gettext("Pair or sheet"),
  guidelines: gettext("Guidelines"),
  help: gettext("Keys"),
};

const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

export function keyLabel(key) {
  return NAMES[key] ?? (key ?? "").toUpperCase();
}

const PICK = "pick:";

/** The answer that picks the picture with this key. */
export const pickOf = (key) => `${PICK}${key}`;

/** Where the picture that an answer picks stands among its question's images; -1 if it picks none. */
export function placeOf(answer, question) {
  return answer.startsWith(PICK) && question?.images ? question.images.indexOf(answer.slice(PICK.length)) : -1;
}

/** An answer in a word or two; with its question, a pick says which image. */
export function wordOf(answer, question) {
  if (!answer.startsWith(PICK)) return ANSWERS[answer].word;
  const place = placeOf(answer, question);
  if (place < 0) return gettext("Picked");
  if (question.images.length !== 2) return fill(gettext("Image {n}"), { n: place + 1 });
  return place === 0 ? gettext("Left") : gettext("Right");
}

/** A small mark that says an answer: a sign, with its word for screen readers. */
export function markOf(answer) {
  const mark = document.createElement("span");
  mark.className = "mark";
  mark.dataset.answer = answer.startsWith(PICK) ? "pick" : answer;
  mark.textContent = ANSWERS[answer]?.sign ?? "✓";
  mark.setAttribute("aria-hidden", "true");
  return mark;
}
