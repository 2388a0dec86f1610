// The theme makes the copy button of every block of code a landmark; pages have enough of them.
const demote = () => document.querySelectorAll("nav.md-code__nav").forEach((nav) => nav.setAttribute("role", "presentation"));
// The theme opens its search as a dialog and gives it no name.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
new MutationObserver(demote).observe(document.documentElement, { childList: true, subtree: true });
demote();
