/* The list of answers: one box ticks all that are shown. */
document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-ticks-all]")) return;
  for (const box of target.form.querySelectorAll('input[name="answers"]')) box.checked = target.checked;
});
