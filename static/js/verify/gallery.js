/* The pictures of a template or triplet: the one in question, and those to pick from. */

export class Gallery {
  #chosen = 0; // the picture that the arrows are on

  /**
   * @param {object} parts elements: reference and gallery.
   * @param {object} options names of the pictures ("Image", or one each), the letters of
   *   pickKeys, which address of an image to show, and whether arrows move from one to another.
   */
  constructor(parts, { names, pickKeys, picture, isMovedIn }) {
    Object.assign(this, { parts, names, pickKeys, picture, isMovedIn });
  }

  show(question) {
    this.parts.reference.src = question.reference.url;
    this.parts.gallery.replaceChildren(...question.images.map((image, place) => this.#tile(image, place)));
    this.#chosen = 0;
    this.#mark();
  }

  /** Fetch the pictures of a question to come. */
  preload(question) {
    new Image().src = question.reference.url;
    for (const image of question.images) new Image().src = image[this.picture];
  }

  /** Whether all pictures can be seen. */
  get areShown() {
    return this.#pictures.every(({ complete, naturalWidth }) => complete && naturalWidth > 0);
  }

  /** Ask again for pictures that did not come. */
  lookAgain() {
    for (const image of this.#pictures) {
      if (image.complete && image.naturalWidth === 0) image.src = image.getAttribute("src");
    }
  }

  /** Move the focus to the next picture that way; the first move only shows where it is. */
  move(way) {
    const tiles = this.#tiles;
    if (!tiles.length) return;
    const n_columns = tiles.filter((tile) => tile.offsetTop === tiles[0].offsetTop).length;
    const step = { left: -1, right: 1, up: -n_columns, down: n_columns }[way];
    if (tiles.includes(document.activeElement) && tiles[this.#chosen + step]) this.#chosen += step;
    this.#mark();
    tiles[this.#chosen].focus();
  }

  get #tiles() {
    return [...this.parts.gallery.children];
  }

  get #pictures() {
    return [this.parts.reference, ...this.parts.gallery.querySelectorAll("img")];
  }

  /** Let Tab reach one picture, the one that the arrows are on; all where arrows do not move. */
  #mark() {
    this.#tiles.forEach((tile, place) => {
      tile.tabIndex = !this.isMovedIn || place === this.#chosen ? 0 : -1;
    });
  }

  #tile(image, place) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "verify-tile";
    button.dataset.pick = place;
    const picture = document.createElement("img");
    picture.src = image[this.picture];
    picture.alt = this.names.length > 1 ? `${this.names[place]} image` : `${this.names[0]} ${place + 1}`;
    button.append(picture);
    if (this.pickKeys[place]) {
      const key = document.createElement("kbd");
      key.textContent = this.pickKeys[place].toUpperCase();
      button.append(key);
    }
    return button;
  }
}
