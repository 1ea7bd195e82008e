/* The judging page's requests. What goes wrong is put into words that a judge can act upon. */
import { SendError } from "../lib/outbox.js";
import { fill, gettext } from "../lib/words.js";

const TIMEOUT_MS = 20_000;

export class Api {
  /**
   * `urls`: next, answers, recent, guidelines, preferences. `person` is whose page this is: where
   * somebody else has signed in since, the server refuses, and nothing is stored as theirs.
   */
  constructor(urls, person, { fetch = (...args) => globalThis.fetch(...args), cookies = () => document.cookie } = {}) {
    Object.assign(this, { urls, person, fetch, cookies });
  }

  /** Questions behind place `after`, at most `n`. */
  async next(after, n) {
    return this.#read(await this.#get(`${this.urls.next}?after=${after}&n=${n}`));
  }

  async recent(n) {
    return this.#read(await this.#get(`${this.urls.recent}?n=${n}`));
  }

  async guidelines() {
    return this.#read(await this.#get(this.urls.guidelines));
  }

  /** Tell that a held key was stopped; nothing hangs on it. */
  async stopped() {
    await this.#post(this.urls.stops, {});
  }

  async savePreferences(body) {
    return this.#read(await this.#post(this.urls.preferences, body));
  }

  /** Send answers; throws SendError where they did not get through. */
  async answers(bodies) {
    const reply = await this.#post(this.urls.answers, { answers: bodies });
    if (reply.status === 200 || reply.status === 409 || reply.status === 422) {
      return this.#read(reply, { isAnyStatus: true });
    }
    if (reply.status === 400 || reply.status === 413 || reply.status === 415) {
      const { error } = await reply.json().catch(() => ({}));
      throw new SendError(error ?? gettext("The server did not understand this answer."), { isFinal: true });
    }
    return this.#read(reply);
  }

  #get(url) {
    return this.#ask(url, {});
  }

  #post(url, body) {
    // the token is read each time: signing in again in another tab has changed it
    const token = /(?:^|;\s*)csrftoken=([^;]+)/.exec(this.cookies())?.[1] ?? "";
    return this.#ask(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      body: JSON.stringify(body),
      keepalive: true, // goes on while the tab closes
    });
  }

  async #ask(url, options) {
    try {
      return await this.fetch(url, {
        ...options,
        headers: { ...options.headers, "Lookalike-Person": this.person },
        credentials: "same-origin",
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch {
      throw new SendError(gettext("No connection to the server."));
    }
  }

  async #read(reply, { isAnyStatus = false } = {}) {
    const isJson = (reply.headers.get("content-type") ?? "").startsWith("application/json");
    if (reply.type === "opaqueredirect") {
      throw new SendError(gettext("You are signed out. Sign in in another tab, then try again here."));
    }
    if (isJson && (reply.ok || isAnyStatus)) {
      try {
        return await reply.json();
      } catch {
        throw new SendError(gettext("The connection broke off."));
      }
    }
    if (isJson && reply.status === 403) throw new SendError((await reply.json()).error);
    throw new SendError(WORDS[reply.status] ?? fill(gettext("The server has a problem ({status})."), { status: reply.status }));
  }
}

const WORDS = {
  403: gettext("The server refused. Sign in in another tab, then try again here."),
  404: gettext("You are not on the panel of this campaign any more. Ask an admin."),
  429: gettext("Too many requests; waiting a little."),
  503: gettext("The database is restarting; trying again in a moment."),
};
