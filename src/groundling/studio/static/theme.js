// Set the theme before the first paint: the stored choice, or else the system's theme.
(() => {
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* storage may be disabled in private windows */ }
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
