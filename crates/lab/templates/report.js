"use strict";
// The page works without this script; with it, tables sort and plots answer.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ---- tables: every head marked data-sort becomes a button ----

  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    return cell.dataset.key ?? cell.textContent.trim();
  };
  const numberIn = (text) => {
    const plain = text.replace(/−/g, "-").replace(/(\d),(?=\d{3})/g, "$1").replace(/^[±<>≥≤\s]+/, "");
    return /^[-+]?[\d.]/.test(plain) ? parseFloat(plain) : NaN;
  };
  const compare = (a, b) => {
    const [x, y] = [numberIn(a), numberIn(b)];
    if (!isNaN(x) && !isNaN(y)) return x - y;
    return a.localeCompare(b, "en", { numeric: true });
  };
  const sortTable = (table, column, descending) => {
    const whole = table.tBodies.length > 1; // claims: a row and its evidence move together
    const items = whole ? [...table.tBodies] : [...table.tBodies[0].rows];
    const key = (item) => keyOf(whole ? item.rows[0] : item, column);
    const sign = descending ? -1 : 1;
    items
      .map((item, k) => ({ item, k, key: key(item) }))
      .sort((a, b) => (a.key === "") - (b.key === "") || sign * compare(a.key, b.key) || a.k - b.k)
      .forEach(({ item }) => item.parentNode.append(item));
    all("thead th", table).forEach((head, k) => {
      if (head.closest("table") !== table) return;
      if (k === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  for (const head of all("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      sortTable(head.closest("table"), head.cellIndex, head.getAttribute("aria-sort") === "ascending");
    });
  }

  // ---- claims: filter, evidence ----

  const claims = document.getElementById("claims-table");
  if (claims) {
    const filters = all("[data-filter]");
    const show = (wanted) => {
      for (const button of filters) button.setAttribute("aria-pressed", String(button.dataset.filter === wanted));
      for (const body of claims.tBodies) {
        const fits = wanted === "changed" ? "changed" in body.dataset : !wanted || body.dataset.verdict === wanted;
        body.hidden = !fits;
      }
    };
    for (const button of filters) button.addEventListener("click", () => show(button.dataset.filter));
    document.getElementById("sort-claims").addEventListener("change", (event) => sortTable(claims, Number(event.target.value), false));

    const toggle = (button, open) => {
      button.setAttribute("aria-expanded", String(open));
      document.getElementById(button.getAttribute("aria-controls")).classList.toggle("open", open);
    };
    const evidence = all(".more");
    for (const button of evidence) {
      button.addEventListener("click", () => toggle(button, button.getAttribute("aria-expanded") !== "true"));
    }
    const openAll = document.getElementById("open-all");
    openAll.addEventListener("click", () => {
      const open = openAll.getAttribute("aria-pressed") !== "true";
      openAll.setAttribute("aria-pressed", String(open));
      evidence.forEach((button) => toggle(button, open));
    });
    // A link to a claim shows it, with its evidence, whatever the filter.
    const follow = () => {
      const body = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!body || !body.parentNode.classList.contains("claims")) return;
      if (body.hidden) show("");
      const button = body.querySelector(".more");
      if (button) toggle(button, true);
      body.scrollIntoView({ block: "center" });
    };
    addEventListener("hashchange", follow);
    follow();
  }

  // ---- contents: mark what is being read ----

  const links = new Map(all(".contents a").map((link) => [link.getAttribute("href").slice(1), link]));
  if (links.size && "IntersectionObserver" in window) {
    const seen = new Set();
    const targets = all("figure[id], .table[id], section[id]").filter((e) => links.has(e.id) && !e.querySelector("figure[id], .table[id]"));
    const watch = new IntersectionObserver((entries) => {
      for (const e of entries) e.isIntersecting ? seen.add(e.target) : seen.delete(e.target);
      const first = targets.find((t) => seen.has(t));
      for (const [id, link] of links) {
        if (first && id === first.id) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }, { rootMargin: "-10% 0px -50% 0px" });
    targets.forEach((t) => watch.observe(t));
  }

  // ---- plots ----

  if (typeof Plots === "undefined") return;
  const specs = JSON.parse(document.getElementById("plots").textContent);
  for (const box of all(".plot")) Plots.add(box, specs[box.dataset.plot]);

  for (const legend of all(".legend")) {
    const { plot } = legend.parentNode.querySelector(".plot");
    const buttons = all("button", legend);
    const apply = () => {
      plot.hidden = new Set(buttons.filter((b) => b.getAttribute("aria-pressed") === "false").map((b) => Number(b.dataset.entry)));
      if (plot.drawn) plot.draw();
    };
    const press = (button, on) => button.setAttribute("aria-pressed", String(on));
    for (const button of buttons) {
      button.addEventListener("click", () => {
        press(button, button.getAttribute("aria-pressed") !== "true");
        apply();
      });
      button.addEventListener("dblclick", () => {
        const alone = buttons.every((b) => (b === button) === (b.getAttribute("aria-pressed") === "true"));
        buttons.forEach((b) => press(b, alone || b === button));
        apply();
      });
    }
  }

  // ---- schedules: find a job ----

  const search = document.getElementById("find-job");
  if (search) {
    const told = document.getElementById("found-job");
    const tell = (job) => {
      const rows = Plots.facts(job).map(([title, facts]) => {
        const row = document.createElement("li");
        const name = document.createElement("b");
        name.textContent = `${title}: `;
        row.append(name, facts.join("; "));
        return row;
      });
      told.replaceChildren(...rows);
    };
    search.addEventListener("input", () => {
      const job = search.value.trim();
      const there = Plots.find(job);
      if (job && !there) told.replaceChildren(Object.assign(document.createElement("li"), { textContent: `No job is called ${job}.` }));
    });
    document.addEventListener("job", ({ detail: job }) => {
      if (job) search.value = job;
      tell(job);
    });
  }
})();
