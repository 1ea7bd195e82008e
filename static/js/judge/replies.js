/* What admins replied to the judge's questions; shown until the judge has seen it. */
import { fill, gettext } from "../lib/words.js";
import { picturesIn } from "./pictures.js";

export class Replies {
  #shown = []; // the UUIDs of the questions whose replies are on screen
  #isAsking = false;

  constructor(panel, list, { api, shelf }) {
    Object.assign(this, { panel, list, api, shelf });
    panel.querySelector('[data-do="seen"]').addEventListener("click", () => this.close());
  }

  /** Fetch the replies that were not seen, and show them; what is on screen stays. */
  async show() {
    if (this.#isAsking || !this.panel.hidden) return;
    this.#isAsking = true;
    try {
      const { replies } = await this.api.replies();
      this.#shown = replies.map(({ uuid }) => uuid);
      this.list.replaceChildren(...replies.map(row));
      this.panel.hidden = replies.length === 0;
    } catch {
      // asked again with the next answer
    } finally {
      this.#isAsking = false;
    }
  }

  /** The judge has seen them; returns whether there were any on screen. */
  close() {
    if (this.panel.hidden) return false;
    this.panel.hidden = true;
    this.api.sawReplies(this.#shown).catch(() => {}); // told again then
    return true;
  }
}

function row({ question, comment, reply, new_version }) {
  const line = document.createElement("li");
  for (const { thumb_url } of picturesIn(question, "")) {
    const image = new Image();
    image.src = thumb_url;
    image.alt = "";
    line.append(image);
  }
  const text = document.createElement("div");
  const asked = document.createElement("p");
  asked.className = "small muted";
  asked.textContent = comment;
  const said = document.createElement("p");
  const rule = fill(gettext("It is in version {version} of the guidelines."), { version: new_version });
  said.textContent = new_version ? `${reply}\n${rule}` : reply;
  text.append(asked, said);
  line.append(text);
  return line;
}
