/* Questions as the server sends them. */

export function question(position, query = "q1") {
  return {
    uid: `u${position}`,
    position,
    kind: "pair",
    query: { url: `/${query}`, thumb_url: `/${query}/t` },
    candidate: { url: `/c${position}`, thumb_url: `/c${position}/t` },
  };
}
