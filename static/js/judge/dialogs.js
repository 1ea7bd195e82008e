/* What is asked in between: a comment, why a pair is skipped, the keys. */
import { SendError } from "../lib/outbox.js";
import { deviceOf, refusalOf } from "../lib/keys.js";
import { fill, gettext, ngettext } from "../lib/words.js";
import { ACTIONS, keyLabel } from "./words.js";

/** What a judge asks about a question, or "" for a flag; words that were not sent are kept. */
export class AskDialog {
  #question = null;

  /** @param parts.onSend (question, text) => void. */
  constructor(dialog, { onSend }) {
    Object.assign(this, { dialog, onSend });
    this.field = dialog.querySelector("textarea");
    const form = dialog.querySelector("form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!event.repeat) form.requestSubmit();
    });
  }

  open(question) {
    this.#question = question;
    this.dialog.showModal();
    this.field.focus();
  }

  #send() {
    const text = this.field.value.trim();
    this.field.value = "";
    this.dialog.close();
    this.onSend(this.#question, text);
  }
}

/**
 * Open a dialog; resolves with what a click or a key answers, or with `none` when it is closed.
 *
 * @param parts.focus which element takes the focus; `onClick`, `onKey`: event => answer, or null
 *   where it is none. A held key says nothing.
 */
function ask(dialog, { focus, none, onClick, onKey }) {
  return new Promise((resolve) => {
    const listening = new AbortController();
    const finish = (answer) => {
      listening.abort();
      if (dialog.open) dialog.close();
      resolve(answer);
    };
    const listen = (type, answerOf) => {
      const heard = (event) => {
        const answer = answerOf(event);
        if (answer === null) return;
        event.preventDefault();
        finish(answer);
      };
      dialog.addEventListener(type, heard, { signal: listening.signal });
    };
    listen("click", onClick);
    listen("keydown", (event) => (event.repeat ? null : onKey(event)));
    listen("close", () => none);
    dialog.showModal();
    dialog.querySelector(focus).focus();
  });
}

/** Ask why a pair is skipped; resolves with the reason, or "" if it is not skipped after all. */
export function askReason(dialog) {
  const answerOf = (button, device) => (button ? { reason: button.dataset.reason, device } : null);
  const buttons = [...dialog.querySelectorAll("[data-reason]")];
  return ask(dialog, {
    focus: "[data-reason]",
    none: { reason: "", device: "keyboard" },
    onClick: (event) => answerOf(event.target.closest("[data-reason]"), deviceOf(event)),
    onKey: ({ key }) => answerOf(buttons.find((_, index) => key === `${index + 1}`), "keyboard"),
  });
}

/** Ask whether so many pairs are different; resolves with whether they are. */
export function confirmRest(dialog, n) {
  const words = ngettext("Is this one different?", "Are all {n} different?", n);
  dialog.querySelector("h2").textContent = fill(words, { n });
  return ask(dialog, {
    focus: "[data-closes]",
    none: false,
    onClick: ({ target }) => (target.closest("[data-sure]") ? true : null),
    onKey: ({ key }) => (key === "1" ? true : null),
  });
}

/** The list of keys, each to be chosen from the keys on offer. */
export class KeysDialog {
  constructor(dialog, { keys, defaults, allowed, onSave }) {
    Object.assign(this, { dialog, keys, defaults, allowed, onSave });
    this.part = (name) => dialog.querySelector(`[data-part="${name}"]`);
    this.part("keys-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save(this.#chosen());
    });
    this.part("keys-reset").addEventListener("click", () => this.#save({ ...this.defaults }));
  }

  open() {
    this.#draw(this.keys);
    this.dialog.showModal();
  }

  #draw(keys) {
    this.#complain("");
    this.part("keys-list").replaceChildren(
      ...Object.keys(this.defaults).map((action) => {
        const row = document.createElement("div");
        const label = document.createElement("label");
        const select = document.createElement("select");
        select.id = `key-${action}`;
        select.name = action;
        for (const key of this.allowed) select.add(new Option(keyLabel(key), key, false, key === keys[action]));
        label.htmlFor = select.id;
        label.textContent = ACTIONS[action] ?? action;
        row.append(label, select);
        return row;
      }),
    );
  }

  #chosen() {
    return Object.fromEntries(new FormData(this.part("keys-form")));
  }

  async #save(keys) {
    for (const [action, key] of Object.entries(keys)) {
      const refusal = refusalOf(keys, action, key, this.allowed, (name) => ACTIONS[name] ?? name);
      if (refusal) {
        this.#complain(`${ACTIONS[action]}: ${refusal}`);
        return;
      }
    }
    try {
      await this.onSave(keys);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      this.#complain(`${gettext("The keys are not saved.")} ${error.message}`);
      return;
    }
    this.keys = keys;
    this.dialog.close();
  }

  #complain(words) {
    this.part("keys-problem").hidden = words === "";
    this.part("keys-problem").textContent = words;
  }
}
