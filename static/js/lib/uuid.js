/* UUIDs that begin with the time (version 7), so that those of a day lie together in the database's
   index: a random place for each would have it write a page of its own. */

export function makeUuid(now = Date.now(), source = globalThis.crypto) {
  const bytes = source.getRandomValues(new Uint8Array(16)); // without HTTPS, too
  for (let at = 5, rest = now; at >= 0; at -= 1, rest = Math.floor(rest / 256)) bytes[at] = rest;
  bytes[6] = (bytes[6] & 0x0f) | 0x70; // version 7
  bytes[8] = (bytes[8] & 0x3f) | 0x80; // variant of RFC 9562
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
