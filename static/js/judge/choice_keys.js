/* Which key means what where one of several pictures is picked. Knows no page. */
import { KeyMap } from "../lib/keys.js";

const MOVES = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

/**
 * The key map of a page: keys that pick a picture by its place, keys that buttons name, arrows,
 * and Enter, which picks the picture that the arrows are on.
 *
 * @param {string} pickKeys a letter for each place.
 * @param {"pick" | "move"} arrows left and right pick one of two pictures, or all four move.
 * @param {{keys: string, action: string}[]} buttons keys apart by blanks.
 */
export function keyMapOf({ pickKeys, arrows, buttons }) {
  const actions = Object.fromEntries([...pickKeys].map((key, place) => [key, `pick ${place}`]));
  for (const { keys, action } of buttons) {
    for (const key of keys.split(" ")) actions[key] = action;
  }
  if (arrows === "pick") Object.assign(actions, { ArrowLeft: "pick 0", ArrowRight: "pick 1" });
  else for (const [key, way] of Object.entries(MOVES)) actions[key] = `move ${way}`;
  return new KeyMap({ enter: "Enter" }, actions);
}
