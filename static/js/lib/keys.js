/*
 * Keys to actions: which key means what, and when a key press counts at all.
 * Knows no page; actions are plain strings.
 */
import { fill, gettext } from "./words.js";

export const DEAD_MS = 180; // a second answer within this time is a stuttering finger

const TEXT_INPUTS = new Set([
  ...["text", "search", "email", "url", "tel", "password", "number", "date", "time"],
]);

/** The key of an event as key maps name it: letters in lower case, everything else as it is. */
export function keyName(event) {
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

/** Whether somebody is typing into `element`, so that letters are text and not commands. */
export function isTextField(element) {
  if (!element?.tagName) return false;
  const tag = element.tagName.toLowerCase();
  if (tag === "input") return TEXT_INPUTS.has((element.type || "text").toLowerCase());
  return tag === "textarea" || tag === "select" || element.isContentEditable === true;
}

/** A key map: action to key, with fixed twins (key to action) that cannot be changed. */
export class KeyMap {
  #actions = new Map();

  constructor(keys, twins = {}) {
    this.keys = { ...keys };
    for (const [action, key] of Object.entries(keys)) this.#actions.set(key, action);
    for (const [key, action] of Object.entries(twins)) this.#actions.set(key, action);
  }

  actionOf(key) {
    return this.#actions.get(key) ?? null;
  }
}

/**
 * Why `key` cannot be given to `action`, in words, or "" if it can.
 * @param {string[]} allowed the fixed list of keys on offer.
 * @param nameOf (action) => what it is called.
 */
export function refusalOf(keys, action, key, allowed, nameOf = (other) => other.replaceAll("_", " ")) {
  if (!allowed.includes(key)) return gettext("This key is not on offer.");
  const holder = Object.keys(keys).find((other) => keys[other] === key && other !== action);
  return holder ? fill(gettext("This key already means “{action}”."), { action: nameOf(holder) }) : "";
}

/**
 * Lets one deliberate press through: not a held key, and not a second one within DEAD_MS.
 * Times are event time stamps, which are taken when the key went down.
 */
export class Gate {
  #last = -Infinity;

  constructor(deadMs = DEAD_MS) {
    this.deadMs = deadMs;
  }

  admits(timeStamp) {
    if (timeStamp - this.#last < this.deadMs) return false;
    this.#last = timeStamp;
    return true;
  }
}

/** With what a click was made: "touch", "mouse" or "keyboard"; a pen touches. */
export function deviceOf(event) {
  if (event.pointerType === "touch" || event.pointerType === "pen") return "touch";
  return event.pointerType || event.detail > 0 ? "mouse" : "keyboard"; // Enter clicks without a pointer
}

/**
 * The action of a key press, or null where the press is not meant for us: with a modifier, in a
 * text field or dialog, repeated by holding the key, or part of composing a character. An arrow
 * with Shift moves a picture, and never answers.
 */
export function actionFor(event, keyMap, { isDialogOpen = false } = {}) {
  if (event.repeat || event.isComposing || event.defaultPrevented) return null;
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.shiftKey && event.key.startsWith("Arrow")) return null;
  if (isDialogOpen || isTextField(event.target)) return null;
  return keyMap.actionOf(keyName(event));
}
