/* Job panels poll themselves (htmx); a page that shows a job's outcome reloads when it ends. */

/** Reload the page once a job inside `[data-reload-when-done]` has ended; returns an undo. */
export function bindJobEnd(root = document) {
  const onSwap = (event) => {
    const ended = event.target.closest?.("[data-job-ended]") ?? null;
    const host = event.target.closest?.("[data-reload-when-done]") ?? null;
    if (ended && host && !host.dataset.reloading) {
      host.dataset.reloading = "yes";
      setTimeout(() => location.reload(), 600);
    }
  };
  root.addEventListener("htmx:load", onSwap);
  return () => root.removeEventListener("htmx:load", onSwap);
}
