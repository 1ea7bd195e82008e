/* The guidelines: to look something up, and to be read once for each version before judging goes on. */
import { SendError } from "../lib/outbox.js";
import { fill, gettext } from "../lib/words.js";
import { picturesIn } from "./pictures.js";
import { markOf, placeOf, wordOf } from "./words.js";

/** The guidelines with their worked examples; fetched when opened, at hand without network. */
export class Guidelines {
  #loaded = null;
  #toRead = null; // the version that must be read before anything else

  /** @param parts.onRead (version) => void, once the server has noted that a version was read. */
  constructor(dialog, api, { onRead = () => {} } = {}) {
    Object.assign(this, { dialog, api, onRead });
    this.part = (name) => dialog.querySelector(`[data-part="${name}"]`);
    this.part("read").addEventListener("click", () => this.#read());
    dialog.addEventListener("cancel", (event) => {
      if (this.#toRead !== null) event.preventDefault();
    });
    dialog.addEventListener("close", () => {
      if (this.#toRead !== null) dialog.showModal(); // a second Escape closes whatever is said
    });
    dialog.addEventListener("keydown", (event) => this.#practise(event));
  }

  async open() {
    if (!this.dialog.open) this.dialog.showModal();
    await this.#load().catch(() => {}); // what the page came with is shown meanwhile
  }

  /** Let nothing else be done until a version is read; the first time, the keys can be tried. */
  async openToRead(version, { isFirst = false } = {}) {
    if (this.#toRead === version) return;
    this.#toRead = version;
    this.#loaded = null;
    this.part("reading").hidden = false;
    this.part("read").textContent = isFirst
      ? gettext("Start judging")
      : fill(gettext("I have read version {version}"), { version });
    this.dialog.querySelector("[data-closes]").hidden = true;
    if (isFirst) this.#showPractice();
    await this.open();
    this.part("read").focus();
  }

  /** A version was read here or elsewhere. */
  wasRead(version) {
    if (this.#toRead === null || this.#toRead > version) return;
    this.#toRead = null;
    this.part("reading").hidden = true;
    this.part("practice").hidden = true;
    this.part("changes").hidden = true;
    this.dialog.querySelector("[data-closes]").hidden = false;
    this.dialog.close();
  }

  async #read() {
    const problem = this.part("reading-problem");
    const button = this.part("read");
    button.disabled = true;
    problem.hidden = true;
    try {
      const { version } = await this.#load(); // newer than what was announced, perhaps
      if (version > this.#toRead) {
        this.#toRead = null;
        await this.openToRead(version);
        return;
      }
      await this.api.readGuidelines(version);
      this.onRead(version);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      problem.textContent = `${error.message} ${gettext("Try again in a moment.")}`;
      problem.hidden = false;
    } finally {
      button.disabled = false;
    }
  }

  async #load() {
    this.#loaded ??= this.api.guidelines().catch((error) => {
      this.#loaded = null;
      throw error;
    });
    const loaded = await this.#loaded;
    const { version, html, examples, changes } = loaded;
    this.part("guidelines-version").textContent = version;
    this.part("guidelines-text").innerHTML = html; // sanitised by the server, and by our CSP
    this.part("no-guidelines").hidden = html !== "";
    this.part("examples").hidden = examples.length === 0;
    this.part("examples-list").replaceChildren(...examples.map(example));
    this.part("changes").hidden = changes.length === 0;
    this.part("changes-list").replaceChildren(...changes.map(changedLine));
    return loaded;
  }

  /** List the keys of the answers; they light up when pressed. */
  #showPractice() {
    const buttons = [...document.querySelectorAll(".judge-answers button, .choice-tile")];
    const rows = buttons
      .filter((button) => !button.hidden && button.querySelector("kbd")?.textContent)
      .map((button) => {
        const row = document.createElement("li");
        const key = button.querySelector("kbd").cloneNode(true);
        row.dataset.key = key.textContent.toLowerCase();
        row.append(key, ` ${(button.querySelector("span") ?? button.firstChild).textContent.trim()}`);
        return row;
      });
    this.part("practice").hidden = rows.length === 0;
    this.part("practice-list").replaceChildren(...rows);
  }

  #practise(event) {
    if (this.part("practice").hidden || event.repeat || event.ctrlKey || event.metaKey) return;
    const row = this.part("practice-list").querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (row) row.dataset.isTried = "yes";
  }
}

function changedLine([sign, text]) {
  const row = document.createElement("li");
  const line = document.createElement({ "+": "ins", "-": "del" }[sign] ?? "span");
  row.dataset.sign = sign;
  line.textContent = sign === "…" ? "…" : text;
  row.append(line);
  return row;
}

function example({ question, answer, why }) {
  const row = document.createElement("li");
  for (const [index, { thumb_url }] of picturesIn(question, answer).entries()) {
    const image = new Image();
    image.src = thumb_url;
    image.alt = index === 0 ? gettext("Query") : gettext("Candidate");
    row.append(image);
  }
  const text = document.createElement("div");
  const title = document.createElement("strong");
  title.append(markOf(answer), ` ${placeOf(answer, question) < 0 ? wordOf(answer) : gettext("This one")}`);
  const reason = document.createElement("p");
  reason.textContent = why;
  text.append(title, reason);
  row.append(text);
  return row;
}
