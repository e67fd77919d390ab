"use strict";
(() => {
  const body = document.querySelector("tbody");
  if (!body) return;
  const rows = Array.from(body.rows);
  const search = document.getElementById("search");
  const boxes = Array.from(document.querySelectorAll("input[name=verdict]"));
  const shown = document.getElementById("shown");
  const none = document.getElementById("none");
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    for (const row of rows) {
      const text = texts.get(row);
      const keep = verdicts.has(row.dataset.verdict) && words.every((word) => text.includes(word));
      row.hidden = !keep;
      if (keep) count += 1;
    }
    shown.textContent = count === rows.length ? `${count} rows` : `${count} of ${rows.length} rows`;
    none.hidden = count > 0;
  };

  const compare = (left, right) => {
    if (left === right) return 0;
    if (left === "") return 1;
    if (right === "") return -1;
    return null;
  };

  const sort = (header, column) => {
    const ascending = header.getAttribute("aria-sort") !== "ascending";
    for (const other of header.parentNode.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const isNumber = header.dataset.type === "number";
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
    const sorted = rows
      .map((row, index) => ({ row, index, value: value(row) }))
      .sort((left, right) => {
        const absent = compare(left.value, right.value);
        if (absent !== null) return absent || left.index - right.index;
        const order = isNumber
          ? Number(left.value) - Number(right.value)
          : left.value.localeCompare(right.value, "en", { numeric: true });
        return (ascending ? order : -order) || left.index - right.index;
      });
    body.append(...sorted.map((entry) => entry.row));
  };

  for (const header of document.querySelectorAll("th[data-type]")) {
    const button = header.querySelector("button");
    button.addEventListener("click", () => sort(header, header.cellIndex));
  }
  search.addEventListener("input", filter);
  for (const box of boxes) box.addEventListener("change", filter);
  document.querySelector("form.controls").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      filter();
    }
  });
  document.documentElement.classList.add("scripted");
  filter();
})();
