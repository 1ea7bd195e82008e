/* Job panels poll themselves (htmx); a page that shows a job's outcome reloads when it ends. */

const FAREWELL_MS = 10_000; // how long a page that was left may stay, until the next one answers

/** Reload the page once a job inside `[data-reload-when-done]` has ended; returns an undo. */
export function bindJobEnd(root = document) {
  let leftAt = -Infinity;
  const onLeave = () => (leftAt = performance.now());
  // a reload would call back who has just gone on to another page
  const reload = () => {
    const rest = leftAt + FAREWELL_MS - performance.now();
    if (rest > 0) setTimeout(reload, rest);
    else location.reload();
  };
  const onSwap = (event) => {
    const ended = event.target.closest?.("[data-job-ended]") ?? null;
    const host = event.target.closest?.("[data-reload-when-done]") ?? null;
    if (ended && host && !host.dataset.reloading) {
      host.dataset.reloading = "yes";
      setTimeout(reload, 600);
    }
  };
  addEventListener("beforeunload", onLeave);
  root.addEventListener("htmx:load", onSwap);
  return () => {
    removeEventListener("beforeunload", onLeave);
    root.removeEventListener("htmx:load", onSwap);
  };
}
