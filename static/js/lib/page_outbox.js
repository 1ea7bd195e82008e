/* The outbox of a judging page: its store, one sending tab at a time, and what leaving does to it. */
import { Outbox } from "./outbox.js";
import { openStore } from "./stores.js";

/** An outbox that no other person's or campaign's page shares; `parts` as for Outbox. */
export async function pageOutbox(scope, parts) {
  const outbox = new Outbox({
    store: await openStore(scope),
    exclusive: (work) => (navigator.locks ? navigator.locks.request(scope, work) : work()),
    channel: "BroadcastChannel" in window ? new BroadcastChannel(scope) : null,
    ...parts,
  });
  window.addEventListener("online", () => outbox.flush());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") outbox.flush();
  });
  window.addEventListener("beforeunload", (event) => {
    if (!outbox.isKept && outbox.waiting.length > 0) event.preventDefault();
  });
  return outbox;
}
