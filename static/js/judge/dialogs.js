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

/** Ask why a pair is skipped; resolves with the reason, or "" if it is not skipped after all. */
export function askReason(dialog) {
  return new Promise((resolve) => {
    const finish = (reason, device) => {
      dialog.removeEventListener("click", onClick);
      dialog.removeEventListener("keydown", onKey);
      dialog.removeEventListener("close", onClose);
      if (dialog.open) dialog.close();
      resolve({ reason, device });
    };
    const onClick = (event) => {
      const button = event.target.closest("[data-reason]");
      if (button) finish(button.dataset.reason, deviceOf(event));
    };
    const onKey = (event) => {
      const button = event.repeat ? null : dialog.querySelectorAll("[data-reason]")[Number(event.key) - 1];
      if (!button || event.key === " ") return;
      event.preventDefault();
      finish(button.dataset.reason, "keyboard");
    };
    const onClose = () => finish("", "keyboard");
    dialog.addEventListener("click", onClick);
    dialog.addEventListener("keydown", onKey);
    dialog.addEventListener("close", onClose);
    dialog.showModal();
    dialog.querySelector("[data-reason]").focus();
  });
}

/** Ask whether so many pairs are different; resolves with whether they are. A held key says nothing. */
export function confirmRest(dialog, n) {
  return new Promise((resolve) => {
    const finish = (isSure) => {
      dialog.removeEventListener("click", onClick);
      dialog.removeEventListener("keydown", onKey);
      dialog.removeEventListener("close", onClose);
      if (dialog.open) dialog.close();
      resolve(isSure);
    };
    const onClick = ({ target }) => {
      if (target.closest("[data-sure]")) finish(true);
    };
    const onKey = (event) => {
      if (event.repeat || event.key !== "1") return;
      event.preventDefault();
      finish(true);
    };
    const onClose = () => finish(false);
    dialog.addEventListener("click", onClick);
    dialog.addEventListener("keydown", onKey);
    dialog.addEventListener("close", onClose);
    const words = ngettext("Is this one different?", "Are all {n} different?", n);
    dialog.querySelector("h2").textContent = fill(words, { n });
    dialog.showModal();
    dialog.querySelector("[data-closes]").focus();
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
