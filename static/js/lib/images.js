/*
 * A shelf of images that are wanted soon: the near ones decoded, the far ones fetched.
 *
 * Bytes are held as blobs, so that they are there without network too; an <img> is handed out
 * with its picture decoded, so that showing it costs no time.
 */

const ATTEMPTS = 3;

export class ImageShelf {
  #items = new Map(); // url -> {blob, objectUrl, image, ready, n_failed}
  #wanted = []; // urls, the next ones first
  #n_loading = 0;

  /**
   * @param {object} parts
   * @param parts.fetchBlob async (url) => Blob.
   * @param parts.makeImage () => an <img>.
   * @param parts.parallel how many requests at once.
   */
  constructor({
    fetchBlob = fetchImage,
    makeImage = () => new Image(),
    parallel = 6,
    urls = globalThis.URL,
    wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    keepMs = 30_000,
  } = {}) {
    Object.assign(this, { fetchBlob, makeImage, parallel, urls, wait, keepMs });
  }

  /**
   * Say what is wanted, the soonest first: the first `n_decoded` are decoded, the others
   * fetched, and everything else is let go.
   */
  want(urls, n_decoded) {
    this.#wanted = [...new Set(urls)];
    const kept = new Set(this.#wanted);
    for (const url of [...this.#items.keys()]) if (!kept.has(url)) this.#drop(url);
    for (const url of this.#wanted.slice(0, n_decoded)) this.decoded(url);
    this.#work();
  }

  /** Whether `url` can be shown without waiting. */
  isReady(url) {
    return this.#items.get(url)?.image?.complete === true && this.#items.get(url).isDecoded;
  }

  /** Whether the bytes of `url` are here. */
  isHere(url) {
    return this.#items.get(url)?.objectUrl != null;
  }

  /** How many of `urls`, from the first on, can be shown without waiting. */
  readyAhead(urls) {
    const first = urls.findIndex((url) => !this.isReady(url));
    return first < 0 ? urls.length : first;
  }

  /** The address of the bytes held for `url`, or `url` itself. */
  source(url) {
    return this.#items.get(url)?.objectUrl ?? url;
  }

  /** The <img> of `url`, decoded; rejects when it cannot be had. */
  decoded(url) {
    const item = this.#item(url);
    item.ready ??= this.#decode(url, item).catch((error) => {
      item.ready = null;
      throw error;
    });
    item.ready.catch(() => {});
    return item.ready;
  }

  /** The <img> of `url` if it is decoded, else null: for showing it at once. */
  now(url) {
    return this.isReady(url) ? this.#items.get(url).image : null;
  }

  async #decode(url, item) {
    await this.#load(url, item);
    if (item.objectUrl === null) throw new Error("not wanted any more");
    const image = this.makeImage();
    image.decoding = "sync";
    image.draggable = false;
    image.alt = "";
    image.src = item.objectUrl;
    await image.decode();
    item.image = image;
    item.isDecoded = true;
    return image;
  }

  #item(url) {
    let item = this.#items.get(url);
    if (!item) {
      item = { objectUrl: null, loading: null, image: null, isDecoded: false, ready: null };
      this.#items.set(url, item);
    }
    return item;
  }

  #load(url, item) {
    if (item.objectUrl !== null) return Promise.resolve();
    item.loading ??= this.#fetch(url, item).finally(() => {
      item.loading = null;
    });
    return item.loading;
  }

  async #fetch(url, item) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const blob = await this.fetchBlob(url);
        if (this.#items.get(url) === item) item.objectUrl = this.urls.createObjectURL(blob);
        return;
      } catch (error) {
        if (attempt >= ATTEMPTS) throw error;
        await this.wait(300 * attempt);
      }
    }
  }

  /** Fetch what is wanted and not here, a few at a time. */
  #work() {
    while (this.#n_loading < this.parallel) {
      const url = this.#wanted.find((wanted) => {
        const item = this.#items.get(wanted);
        return !item || (item.objectUrl === null && item.loading === null && !item.hasFailed);
      });
      if (url === undefined) return;
      const item = this.#item(url);
      this.#n_loading += 1;
      this.#load(url, item)
        .catch(() => {
          item.hasFailed = true; // asked for again when it is shown
        })
        .finally(() => {
          this.#n_loading -= 1;
          this.#work();
        });
    }
  }

  #drop(url) {
    const item = this.#items.get(url);
    this.#items.delete(url);
    if (item.objectUrl === null) return;
    // not at once: the picture may still be on the screen
    this.wait(this.keepMs).then(() => this.urls.revokeObjectURL(item.objectUrl));
  }
}

async function fetchImage(url) {
  const reply = await fetch(url, { credentials: "same-origin" });
  if (!reply.ok) throw new Error(`${reply.status} for ${url}`);
  return reply.blob();
}
