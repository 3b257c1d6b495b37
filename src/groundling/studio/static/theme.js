// Before anything is drawn: the theme that was chosen, else that of the system.
(() => {
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* storage may be disabled in private windows */ }
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
