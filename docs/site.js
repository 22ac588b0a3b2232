// The theme's search dialog has no name for those who cannot see it, and its tables cannot be scrolled by keys.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset table:not([class])").forEach((table) => {
  table.setAttribute("tabindex", "0");
});
