// Say on the page that a passkey could not be used; allauth's script only says it to the console.
document.addEventListener("allauth.error", (event) => {
  const shown = document.querySelector("[data-passkey-error]");
  if (!shown) return;
  event.preventDefault();
  shown.hidden = false;
});
