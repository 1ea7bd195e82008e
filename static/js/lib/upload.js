/* Send a form with files by XMLHttpRequest, which alone tells how much has been sent. */

/** The share sent and the words beside it; exported for its test. */
export function progressOf(loaded, total) {
  if (!total) return { share: null, words: "Uploading…" };
  if (loaded >= total) return { share: 1, words: "Received. Checking…" };
  const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(bytes < 2 ** 20 * 10 ? 1 : 0);
  return { share: loaded / total, words: `${megabytes(loaded)} of ${megabytes(total)} MB` };
}

/** Bind one form that has a `.upload-progress` inside; returns an undo. */
export function bindUpload(form) {
  const onSubmit = (event) => {
    event.preventDefault();
    send(form);
  };
  form.addEventListener("submit", onSubmit);
  return () => form.removeEventListener("submit", onSubmit);
}

function send(form) {
  const request = new XMLHttpRequest();
  const panel = form.querySelector(".upload-progress");
  const button = form.querySelector("[type=submit]");
  const show = ({ share, words }) => {
    const bar = panel.querySelector("progress");
    if (share === null) bar.removeAttribute("value");
    else bar.value = share;
    panel.querySelector("[data-words]").textContent = words;
  };
  const fail = (words) => {
    button.disabled = false;
    show({ share: 0, words });
  };
  panel.hidden = false;
  button.disabled = true;
  request.upload.addEventListener("progress", (event) => show(progressOf(event.loaded, event.total)));
  request.addEventListener("error", () => fail("The connection broke. Nothing was imported; try again."));
  request.addEventListener("load", () => answered(request, form, fail));
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true"); // asks for HX-Redirect, since XHR follows 302 unseen
  request.send(new FormData(form));
}

function answered(request, form, fail) {
  const place = request.getResponseHeader("HX-Redirect");
  if (place) {
    location.assign(place);
    return;
  }
  const page = new DOMParser().parseFromString(request.responseText, "text/html");
  const fresh = page.getElementById(form.id);
  if (request.status !== 200 || !fresh) {
    fail(request.status === 413 || request.status === 400
      ? "The upload was refused: it is too large, or you have been signed out."
      : `The server answered ${request.status}. Reload the page and try again.`);
    return;
  }
  keepFiles(form, fresh);
  form.replaceWith(fresh);
  bindUpload(fresh);
  fresh.querySelector(".errorlist")?.scrollIntoView({ block: "center" });
}

/** Chosen files survive a refused form, so that nobody has to look for them again. */
function keepFiles(from, to) {
  for (const input of from.querySelectorAll("input[type=file]")) {
    const heir = to.querySelector(`input[type=file][name="${input.name}"]`);
    if (heir && input.files.length) heir.files = input.files;
  }
}
