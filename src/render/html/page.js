"use strict";
(() => {
  const table = document.getElementById("rows");
  if (!table) return;
  const PAGE = 100;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const get = (id) => document.getElementById(id);
  const search = get("search");
  const more = get("more");
  const boxes = Array.from(document.querySelectorAll("input[name=verdict]"));
  const choices = ["unit", "package", "column"].map(get).filter(Boolean);
  const headers = Array.from(table.querySelectorAll("th[data-key]"));
  const cell = (row, name) => row.querySelector(`td.${name}`);
  const text = (row, name) => {
    const first = cell(row, name).firstChild;
    return first ? first.textContent.trim() : "";
  };
  const unitOf = (row) => text(row, "unit");
  const count = (number) => number.toLocaleString("en");
  const counted = (number) => `${count(number)} ${number === 1 ? "row" : "rows"}`;
  const texts = new Map(rows.map((row) => [row, ["name", "unit", "verdict"].map((name) => cell(row, name).textContent).join(" ").toLowerCase()]));
  const details = new Map();
  let order = rows;
  let room = PAGE;
  let target = null;

  // Which rows are shown.

  const wanted = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const picked = choices.filter((choice) => choice.value !== "");
    const has = { unit: unitOf, package: (row) => row.dataset.package, column: (row) => row.dataset.column };
    return (row) =>
      verdicts.has(row.dataset.verdict) &&
      picked.every((choice) => has[choice.id](row) === choice.value) &&
      words.every((word) => texts.get(row).includes(word));
  };
  const filter = () => {
    const fits = wanted();
    let fitting = 0;
    let shown = 0;
    for (const row of order) {
      const is_fitting = fits(row);
      if (is_fitting) fitting += 1;
      const keep = row === target || (is_fitting && fitting <= room);
      if (keep) shown += 1;
      row.hidden = !keep;
      row.classList.remove("later");
      const detail = details.get(row);
      if (detail) detail.hidden = !keep;
    }
    get("shown").textContent = shown === rows.length ? counted(shown) : `${count(shown)} of ${counted(rows.length)}`;
    get("reset").hidden = shown === rows.length;
    more.hidden = fitting <= room;
    more.textContent = `show ${count(Math.min(fitting - room, 10 * PAGE))} more of ${counted(fitting)}`;
    get("none").hidden = shown > 0;
  };

  // The order of rows.

  const compare = (left, right) => {
    if (left === right) return 0;
    if (left === "") return 1;
    if (right === "") return -1;
    return null;
  };
  const sort = (header, direction) => {
    for (const other of headers) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction);
    const name = header.dataset.key === "benchmark" ? "name" : header.dataset.key;
    const sign = direction === "ascending" ? 1 : -1;
    const entries = rows.map((row, index) => ({ row, index, value: cell(row, name).dataset.value ?? text(row, name) }));
    entries.sort((left, right) => {
      const absent = compare(left.value, right.value);
      if (absent !== null) return absent || left.index - right.index;
      const found = header.dataset.type === "number"
        ? number(left.value) - number(right.value)
        : left.value.localeCompare(right.value, "en", { numeric: true });
      return sign * found || left.index - right.index;
    });
    order = entries.map((entry) => entry.row);
    body.append(...order.flatMap((row) => (details.has(row) ? [row, details.get(row)] : [row])));
  };
  // Numbers are written as Rust writes them.
  const number = (written) => (written === "inf" ? Infinity : written === "-inf" ? -Infinity : Number(written));
  const numbers = (list) => (list === undefined ? [] : list.split(",").map(number));

  // The address: `#row?filters`.

  const state = () => {
    const query = new URLSearchParams();
    if (search.value) query.set("q", search.value);
    if (boxes.some((box) => box.checked !== box.defaultChecked)) {
      query.set("verdict", boxes.filter((box) => box.checked).map((box) => box.value).join(","));
    }
    for (const choice of choices) if (choice.value) query.set(choice.id, choice.value);
    const sorted = headers.find((header) => header.ariaSort);
    if (sorted) query.set("sort", (sorted.ariaSort === "descending" ? "-" : "") + sorted.dataset.key);
    return query.toString();
  };
  const address = () => {
    const query = state();
    return `#${target ? encodeURIComponent(target.id) : ""}${query ? `?${query}` : ""}`;
  };
  const remember = () => {
    const found = address();
    try {
      history.replaceState(null, "", found === "#" ? location.pathname + location.search : found);
    } catch {
      // A page within another may not change its address.
    }
  };
  const read = () => {
    const [id, ...rest] = location.hash.slice(1).split("?");
    const query = new URLSearchParams(rest.join("?"));
    search.value = query.get("q") ?? "";
    const verdicts = query.get("verdict")?.split(",");
    for (const box of boxes) box.checked = verdicts ? verdicts.includes(box.value) : box.defaultChecked;
    for (const choice of choices) choice.value = query.get(choice.id) ?? "";
    const key = query.get("sort");
    const header = headers.find((header) => header.dataset.key === key?.replace(/^-/, ""));
    if (header) sort(header, key.startsWith("-") ? "descending" : "ascending");
    let name = id;
    try {
      name = decodeURIComponent(id);
    } catch {
      // As it is, then.
    }
    const row = byId.get(name);
    if (target && target !== row) close(target);
    target = row ?? null;
    filter();
    if (row) {
      open(row);
      row.scrollIntoView({ block: "center" });
    }
  };
  const changed = () => {
    room = PAGE;
    filter();
    remember();
  };

  // A row with all that is known of it.

  const make = (name, attributes = {}, ...children) => {
    const element = name.startsWith("svg:")
      ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
      : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const sides = () => ["base", "new"].map((key) => table.querySelector(`th.${key}`).textContent.trim());
  const spell = (row) => {
    const [factor, prefix, decimals] = row.dataset.scale.split(",");
    return (value) => `${(value / Number(factor)).toFixed(Math.min(Number(decimals) + 1, 20))}${prefix}`;
  };
  const ticks = (least, most) => {
    const rough = (most - least) / 4;
    if (!(rough > 0)) return [least];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((found) => found >= rough);
    const found = [];
    for (let at = Math.ceil(least / step); at * step <= most; at += 1) found.push(at * step);
    return found;
  };
  /// All values in the order of the runs, and how they are spread, on one scale.
  const draw = (row) => {
    const width = 640;
    const [top, bottom, left] = [22, 178, 64];
    const panels = [[left, 270], [285, 491], [515, 635]];
    const names = sides();
    const samples = ["base", "new"].map((key, index) => ({
      key, name: names[index], values: numbers(row.dataset[key]),
      interval: numbers(row.dataset[`${key}Interval`]), centre: number(cell(row, key).dataset.value),
    })).filter((sample) => sample.values.length > 0);
    const all = samples.flatMap((sample) => sample.values);
    let [least, most] = [Math.min(...all), Math.max(...all)];
    const pad = (most - least) * 0.06 || Math.abs(most) * 0.01 || 1;
    [least, most] = [least - pad, most + pad];
    const y = (value) => bottom - ((bottom - top) * (value - least)) / (most - least);
    const written = spell(row);
    const svg = make("svg:svg", { class: "runs", viewBox: `0 0 ${width} 200`, tabindex: "0", role: "img",
      "aria-label": "Values in the order of the runs; arrow keys go through them" });
    for (const tick of ticks(least, most)) {
      svg.append(make("svg:path", { class: "grid", d: `M${left} ${y(tick)}H${width - 5}` }),
        make("svg:text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, written(tick)));
    }
    const said = make("output", { class: "soft", "aria-live": "polite" }, "Point at a value, or use the arrow keys.");
    const points = [];
    samples.forEach((sample, place) => {
      const [from, to] = panels[sample.key === "base" ? 0 : 1];
      const step = (to - from) / (sample.values.length + 1);
      const klass = sample.key === "base" ? "b" : "n";
      svg.append(make("svg:text", { x: (from + to) / 2, y: 12, "text-anchor": "middle" }, `${sample.name}, in order`));
      svg.append(make("svg:path", { class: `line ${klass}`, d: sample.values.map((value, index) => `${index ? "L" : "M"}${from + step * (index + 1)} ${y(value)}`).join("") }));
      if (sample.interval.every(Number.isFinite)) {
        svg.append(make("svg:path", { class: `band ${klass}`, d: `M${from} ${y(sample.interval[1])}H${to}V${y(sample.interval[0])}H${from}z` }));
      }
      svg.append(make("svg:path", { class: `tick ${klass}`, d: `M${from} ${y(sample.centre)}H${to}` }));
      const at = panels[2][0] + (sample.key === "base" ? 32 : 88);
      const sorted = [...sample.values].sort((a, b) => a - b);
      sorted.forEach((value, index) => {
        // Next to each other where they are close, so that the width shows how many there are.
        const near = sorted.filter((other) => Math.abs(y(other) - y(value)) < 5);
        const rank = near.indexOf(value) + (sorted.slice(0, index).filter((other) => other === value).length);
        const shift = Math.max(-26, Math.min(26, (rank - (near.length - 1) / 2) * 5));
        svg.append(make("svg:circle", { class: `spot ${klass}`, cx: at + shift, cy: y(value), r: 2.5 }));
      });
      svg.append(make("svg:path", { class: `tick ${klass}`, d: `M${at - 26} ${y(sample.centre)}h52` }));
      svg.append(make("svg:text", { x: at, y: 193, "text-anchor": "middle" }, sample.name.slice(0, 10)));
      svg.append(make("svg:text", { x: from + step, y: 193, "text-anchor": "middle" }, "1"));
      if (sample.values.length > 1) {
        svg.append(make("svg:text", { x: to - step, y: 193, "text-anchor": "middle" }, String(sample.values.length)));
      }
      sample.values.forEach((value, index) => {
        const point = make("svg:circle", { class: `value ${klass}`, cx: from + step * (index + 1), cy: y(value), r: 4 });
        points.push({ point, say: `${sample.name}, run ${index + 1} of ${sample.values.length}: ${written(value)} ${unitOf(row)}`, place });
        svg.append(point);
      });
    });
    svg.append(make("svg:text", { x: (panels[2][0] + panels[2][1]) / 2, y: 12, "text-anchor": "middle" }, "distribution"));
    let chosen = -1;
    const choose = (index) => {
      points[chosen]?.point.classList.remove("chosen");
      chosen = index;
      points[chosen].point.classList.add("chosen");
      said.textContent = points[chosen].say;
    };
    points.forEach((entry, index) => entry.point.addEventListener("pointerenter", () => choose(index)));
    svg.addEventListener("focus", () => { if (chosen < 0) choose(0); });
    svg.addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!move) return;
      event.preventDefault();
      choose((chosen + move + points.length) % points.length);
    });
    return [svg, said];
  };
  const smalls = (row, name) => Array.from(cell(row, name).querySelectorAll("small"), (small) => small.textContent);
  const line = (row) => {
    const sample = (key) => [text(row, key), ...smalls(row, key)].filter(Boolean).join(" ");
    const [base, new_] = ["base", "new"].map(sample);
    const change = [text(row, "change"), smalls(row, "interval")[0] && `(${smalls(row, "interval")[0]})`, ...smalls(row, "change")].filter(Boolean).join(" ");
    const where = row.dataset.package ? ` (${row.dataset.package})` : "";
    return `${cell(row, "name").querySelector("a").textContent}${where} ${unitOf(row)}: ${[base || "none", new_ || "none"].join(" → ")}${change ? `, ${change}` : ""}: ${cell(row, "verdict").querySelector("span").textContent.replace(/^\S /, "")}`;
  };
  const open = (row) => {
    if (details.has(row)) return;
    const copy = make("button", { type: "button", class: "copy" }, "copy as text");
    copy.addEventListener("click", () => put(line(row), "copied"));
    const shut = make("button", { type: "button", class: "close" }, "close");
    shut.addEventListener("click", () => { leave(row); cell(row, "name").querySelector("a").focus(); });
    const facts = [];
    if (row.dataset.package) facts.push(`package ${row.dataset.package}`);
    if (row.dataset.column) facts.push(row.dataset.column);
    if (row.dataset.margin) facts.push(`margin ${row.dataset.margin}`);
    const p = cell(row, "change").querySelector("small");
    if (p) facts.push(`${p.textContent} after correction, ${p.title}`);
    const remarks = Array.from(row.querySelectorAll(".remarks span"), (remark) => make("li", {}, remark.textContent));
    const held = make("td", { colspan: "8" }, make("div", { class: "drawn" }, ...draw(row)),
      make("p", { class: "soft foreign" }, facts.join(" · ")), ...(remarks.length ? [make("ul", {}, ...remarks)] : []), make("p", {}, copy, " ", shut));
    const detail = make("tr", { class: "detail" }, held);
    details.set(row, detail);
    row.classList.add("open");
    row.after(detail);
  };
  const close = (row) => {
    details.get(row)?.remove();
    details.delete(row);
    row.classList.remove("open");
  };
  const leave = (row) => {
    close(row);
    if (target === row) target = null;
    remember();
    filter();
  };

  // Copies.

  const put = async (copied, done) => {
    const said = get("said");
    try {
      await navigator.clipboard.writeText(copied);
      said.textContent = done;
    } catch {
      const area = make("textarea", { readonly: "" });
      area.value = copied;
      document.body.append(area);
      area.select();
      said.textContent = document.execCommand("copy") ? done : "could not copy";
      area.remove();
    }
    setTimeout(() => { said.textContent = ""; }, 4000);
  };
  const values = () => {
    const clean = (value) => String(value ?? "").replace(/[\t\r\n]/g, " ");
    const head = ["benchmark", "package", "unit", ...sides(), "change", "low", "high", "p", "verdict"];
    const lines = order.filter((row) => wanted()(row)).map((row) => [
      cell(row, "name").querySelector("a").textContent, row.dataset.package, unitOf(row),
      cell(row, "base").dataset.value, cell(row, "new").dataset.value, cell(row, "change").dataset.value,
      ...(row.dataset.effect ?? ",").split(","), smalls(row, "change")[0]?.replace("p=", ""), row.dataset.verdict,
    ]);
    return { text: [head, ...lines].map((line) => line.map(clean).join("\t")).join("\n") + "\n", count: lines.length };
  };

  for (const header of headers) {
    header.querySelector("button").addEventListener("click", () => {
      sort(header, header.ariaSort === "ascending" ? "descending" : "ascending");
      changed();
    });
  }
  search.addEventListener("input", changed);
  for (const input of [...boxes, ...choices]) input.addEventListener("change", changed);
  more.addEventListener("click", () => { room += 10 * PAGE; filter(); });
  get("reset").addEventListener("click", () => {
    search.value = "";
    for (const box of boxes) box.checked = true;
    for (const choice of choices) choice.value = "";
    changed();
  });
  get("copy").addEventListener("click", () => { const found = values(); put(found.text, `${counted(found.count)} copied`); });
  document.querySelector("form.controls").addEventListener("submit", (event) => event.preventDefault());
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[id]");
    const link = event.target.closest("td.name a");
    if (!row || event.ctrlKey || event.metaKey || event.shiftKey || (!link && String(getSelection()))) return;
    event.preventDefault();
    if (details.has(row)) { leave(row); return; }
    if (target) close(target);
    target = row;
    open(row);
    remember();
    filter();
  });
  addEventListener("hashchange", read);
  document.addEventListener("keydown", (event) => {
    const isWriting = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !isWriting) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      changed();
    } else if (event.key === "Escape" && target) {
      const row = target;
      leave(row);
      cell(row, "name").querySelector("a").focus();
    } else if ((event.key === "j" || event.key === "k") && !isWriting && !event.ctrlKey && !event.metaKey) {
      const links = order.filter((row) => !row.hidden).map((row) => cell(row, "name").querySelector("a"));
      const at = links.indexOf(document.activeElement);
      links[Math.max(0, Math.min(links.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus();
    }
  });
  read();
})();
