/* The judging page's requests. What goes wrong is put into words that a judge can act upon. */
import { SendError } from "../lib/outbox.js";
import { fill, gettext } from "../lib/words.js";

const TIMEOUT_MS = 20_000;

export class Api {
  /**
   * `urls`: next, answers, comments, replies, recent, guidelines, read, preferences. `person` is whose page this is: where
   * somebody else has signed in since, the server refuses, and nothing is stored as theirs.
   */
  constructor(urls, person, { fetch = (...args) => globalThis.fetch(...args), cookies = () => document.cookie } = {}) {
    Object.assign(this, { urls, person, fetch, cookies });
  }

  /** Questions behind place `after`, at most `n`. */
  async next(after, n) {
    return this.#read(await this.#get(`${this.urls.next}?after=${after}&n=${n}`));
  }

  /** The last `n` answers that hold. */
  async recent(n) {
    return this.#read(await this.#get(`${this.urls.recent}?n=${n}&held=yes`));
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

  /** The replies of admins that the judge has not seen. */
  async replies() {
    return this.#read(await this.#get(this.urls.replies));
  }

  async sawReplies(seen) {
    return this.#read(await this.#post(`${this.urls.replies}/seen`, { seen }));
  }

  async readGuidelines(version) {
    return this.#read(await this.#post(this.urls.read, { version }));
  }

  /** Send answers and comments; throws SendError where they did not get through. */
  async send(bodies) {
    const comments = bodies.filter((body) => "comment" in body);
    if (comments.length === 0) return this.#take(this.urls.answers, { answers: bodies });
    const answers = bodies.filter((body) => !("comment" in body));
    const told = await this.#take(this.urls.comments, { comments });
    if (answers.length === 0) return told;
    const reply = await this.#take(this.urls.answers, { answers });
    return { ...reply, results: [...told.results, ...reply.results] };
  }

  async #take(url, body) {
    const reply = await this.#post(url, body);
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
