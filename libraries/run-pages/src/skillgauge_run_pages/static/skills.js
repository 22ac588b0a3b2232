"use strict";
(() => {
  const table = document.querySelector(".catalogue");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const search = document.getElementById("search");
  const verdict = document.getElementById("verdict");
  const shown = document.getElementById("shown");

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      row.hidden = !fits || (verdict.value !== "" && row.dataset.verdict !== verdict.value);
      count += row.hidden ? 0 : 1;
    }
    shown.textContent = count === rows.length ? `${count} shown` : `${count} of ${rows.length} shown`;
  };

  const valueOf = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent.trim();
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    if (a === "" || b === "") return (a === "") - (b === "");
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
  };
  const sort = (head, at) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const ordered = [...rows].sort((a, b) => {
      const [x, y] = [valueOf(a, at), valueOf(b, at)];
      if (x === "" || y === "") return compare(x, y);
      return down ? compare(y, x) : compare(x, y);
    });
    body.append(...ordered);
  };
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head, at));
    head.replaceChildren(button);
  });

  // Files beside a page that was written under a name of the user's own lie in a folder of that name.
  const name = decodeURIComponent(location.pathname.split("/").pop());
  if (name !== "" && !name.startsWith("eval-result")) {
    for (const link of document.querySelectorAll("a[href]")) {
      const [, rest] = link.getAttribute("href").split("/html/");
      if (rest) link.href = `${encodeURIComponent(name)}.files/${rest}`;
    }
  }

  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  search.addEventListener("input", filter);
  verdict.addEventListener("change", filter);
  document.querySelector(".controls").hidden = false;
  filter();
  open();
})();
