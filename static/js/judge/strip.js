/* The last twenty answers, and those that the server did not accept. */
import { gettext } from "../lib/words.js";
import { picturesIn } from "./pictures.js";
import { markOf, wordOf } from "./words.js";

/** A thumbnail; without network, the large picture if that is held. */
function thumb(picture, shelf) {
  const image = new Image();
  image.onerror = () => {
    image.onerror = null;
    if (shelf.isHere(picture.url)) image.src = shelf.source(picture.url);
  };
  image.src = picture.thumb_url;
  image.alt = "";
  image.loading = "lazy";
  return image;
}

/** Draw the strip; `onPick` gets the UUID of the answer that somebody wants to give again. */
export class Strip {
  #shown = new Map(); // uuid -> <li>

  constructor(list, { shelf, onPick }) {
    Object.assign(this, { list, shelf });
    list.addEventListener("click", (event) => {
      const button = event.target.closest("[data-uuid]");
      if (button) onPick(button.dataset.uuid, event);
    });
  }

  show(entries) {
    const kept = new Map();
    for (const entry of entries) kept.set(entry.uuid, this.#shown.get(entry.uuid) ?? this.#row(entry));
    this.#shown = kept;
    const rows = [...kept.values()];
    rows.forEach((row, index) => {
      if (this.list.children[index] !== row) this.list.insertBefore(row, this.list.children[index] ?? null);
    });
    while (this.list.children.length > rows.length) this.list.lastElementChild.remove();
  }

  #row({ uuid, question, answer }) {
    const row = document.createElement("li");
    const button = document.createElement("button");
    const said = `${wordOf(answer, question)}. ${gettext("Judge it again")}`;
    button.type = "button";
    button.dataset.uuid = uuid;
    button.setAttribute("aria-label", said);
    button.title = said;
    const pictures = picturesIn(question, answer).map((one) => thumb(one, this.shelf));
    button.append(...pictures, markOf(answer));
    row.append(button);
    return row;
  }
}

/** Draw what was refused, with the server's reason, and let a person decide. */
export class Parked {
  constructor(panel, list, { outbox, shelf }) {
    Object.assign(this, { panel, list, outbox, shelf });
    list.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (!button) return;
      const { uuid } = button.closest("li").dataset;
      if (button.dataset.do === "again") outbox.release(uuid);
      else if (window.confirm(gettext("Remove this? It has not been counted."))) outbox.discard(uuid);
    });
  }

  show() {
    const { parked } = this.outbox;
    const shown = parked.map(({ uuid }) => uuid).join();
    if (shown === this.shown) return;
    this.shown = shown;
    this.panel.hidden = parked.length === 0;
    this.list.replaceChildren(...parked.map((record) => this.#row(record)));
  }

  #row({ uuid, body, shown, parked }) {
    const row = document.createElement("li");
    row.dataset.uuid = uuid;
    if (shown?.question) row.append(...picturesIn(shown.question, body.answer ?? "").map((one) => thumb(one, this.shelf)));
    const text = document.createElement("span");
    const what = "comment" in body ? gettext("Your question") : wordOf(body.answer, shown?.question);
    text.textContent = `${what}: ${parked.message || parked.code}`;
    row.append(text, this.#button("again", gettext("Send again")), this.#button("drop", gettext("Remove")));
    return row;
  }

  #button(what, words) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button-small";
    button.dataset.do = what;
    button.textContent = words;
    return button;
  }
}
