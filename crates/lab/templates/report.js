"use strict";
// The page works without this script; with it, tables sort, claims filter, and pictures answer the pointer and the keyboard.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, fields = {}, ...inner) => {
    const made = Object.assign(document.createElement(tag), fields);
    made.append(...inner);
    return made;
  };

  // ---- tables: every head marked data-sort becomes a button ----

  const numberIn = (text) => {
    const plain = text.replace(/−/g, "-").replace(/(\d),(?=\d{3})/g, "$1").replace(/^[±<>≥≤\s]+/, "");
    return /^[-+]?[\d.]/.test(plain) ? parseFloat(plain) : NaN;
  };
  const compare = (a, b) => {
    const [x, y] = [numberIn(a), numberIn(b)];
    return !isNaN(x) && !isNaN(y) ? x - y : a.localeCompare(b, "en", { numeric: true });
  };
  const sortTable = (table, column, descending) => {
    const whole = table.tBodies.length > 1; // claims: a row and its evidence move together
    const items = whole ? [...table.tBodies] : [...table.tBodies[0].rows];
    const key = (item) => {
      const cell = (whole ? item.rows[0] : item).cells[column];
      return cell ? (cell.dataset.key ?? cell.textContent.trim()) : "";
    };
    const sign = descending ? -1 : 1;
    items
      .map((item, k) => ({ item, k, key: key(item) }))
      .sort((a, b) => (a.key === "") - (b.key === "") || sign * compare(a.key, b.key) || a.k - b.k)
      .forEach(({ item }) => item.parentNode.append(item));
    [...table.tHead.rows[0].cells].forEach((head, k) => {
      if (k === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  for (const head of all("th[data-sort]")) {
    const button = make("button", { type: "button", className: "sort" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortTable(head.closest("table"), head.cellIndex, head.getAttribute("aria-sort") === "ascending"));
  }

  // ---- claims: filter, evidence ----

  const claims = document.getElementById("claims-table");
  if (claims) {
    const filters = all("[data-filter]");
    const show = (wanted) => {
      for (const button of filters) button.setAttribute("aria-pressed", String(button.dataset.filter === wanted));
      for (const body of claims.tBodies) {
        body.hidden = !(wanted === "changed" ? "changed" in body.dataset : !wanted || body.dataset.verdict === wanted);
      }
    };
    for (const button of filters) button.addEventListener("click", () => show(button.dataset.filter));
    document.getElementById("sort-claims").addEventListener("change", (event) => sortTable(claims, Number(event.target.value), false));
    const toggle = (button, open) => {
      button.setAttribute("aria-expanded", String(open));
      document.getElementById(button.getAttribute("aria-controls")).classList.toggle("open", open);
    };
    const evidence = all(".more");
    for (const button of evidence) button.addEventListener("click", () => toggle(button, button.getAttribute("aria-expanded") !== "true"));
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
      for (const [id, link] of links) link.ariaCurrent = first && id === first.id ? "true" : null;
    }, { rootMargin: "-10% 0px -50% 0px" });
    targets.forEach((t) => watch.observe(t));
  }

  // ---- pictures: words of marks, one crosshair for all series, a legend that hides and shows ----

  const tip = make("div", { className: "tip", hidden: true, role: "status" });
  document.body.append(tip);
  const say = (x, y, ...inner) => {
    tip.hidden = false;
    tip.replaceChildren(...inner);
    const { offsetWidth: w, offsetHeight: h } = tip;
    tip.style.left = `${x + 16 + w > innerWidth ? Math.max(4, x - w - 16) : x + 16}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 12, innerHeight - h - 4))}px`;
  };
  const digits = (v) => (Math.abs(v) >= 1000 ? v.toLocaleString("en", { maximumFractionDigits: 0 }) : String(+v.toPrecision(4))).replace("-", "−");
  const units = [["days", 86400, 172800], ["h", 3600, 7200], ["min", 60, 120]];
  const span = (v) => {
    const unit = units.find(([, , from]) => Math.abs(v) >= from);
    return unit ? `${digits(+(v / unit[1]).toPrecision(3))} ${unit[0]} (${digits(v)} s)` : `${digits(v)} s`;
  };
  const date = (seconds) => new Date(1e3 * seconds).toISOString().slice(0, 10);
  const written = (axis, v) => axis.start != null ? date(axis.start + 86400 * v) : axis.names.find(([at]) => Math.abs(at - v) <= 1e-9 * Math.abs(at))?.[1] ?? (axis.spans ? span(v) : digits(v) + axis.unit);

  // The value of a series at x: the level that holds, the point there, or a place on the line between two points.
  const valueAt = ({ points, joined }, x, levels) => {
    const next = points.findIndex(([at]) => at > x + 1e-9 * Math.abs(x));
    const before = points[(next < 0 ? points.length : next) - 1];
    if (!before || levels) return before;
    if (Math.abs(before[0] - x) <= 1e-9 * Math.abs(x) || !joined) return Math.abs(before[0] - x) <= 1e-9 * Math.abs(x) ? before : undefined;
    if (next < 0) return [x, before[1]];
    return [x, before[1] + ((x - before[0]) / (points[next][0] - before[0])) * (points[next][1] - before[1])];
  };

  for (const plot of all(".plot")) {
    for (const title of all("g > title", plot)) {
      title.parentNode.dataset.facts = title.textContent;
      if (plot.classList.contains("forest")) title.parentNode.tabIndex = 0;
      title.remove();
    }
    const words = (mark) => mark.dataset.facts.split("\n").map((line, k) => make(k ? "div" : "b", {}, line));
    const data = plot.querySelector("script") && JSON.parse(plot.querySelector("script").textContent);
    const hidden = new Set();
    const clear = () => ((tip.hidden = true), all(".cross", plot).forEach((line) => line.remove()));
    const cross = (svg, x, y, wanted) => {
      const [left, right, top, bottom, low, high, log] = svg.dataset.frame.split(" ").map(Number);
      const place = (v) => (log ? Math.log10(v) : v), box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
      const shown = data.series.filter((one) => !hidden.has(one.group));
      const share = ((x - box.left) / scale - left) / (right - left);
      const pointed = place(low) + share * (place(high) - place(low));
      let at = wanted ?? (log ? 10 ** pointed : pointed);
      if (wanted === undefined && !data.levels && !shown.some((one) => one.joined)) {
        const places = shown.flatMap((one) => one.points.map(([v]) => v));
        at = places.reduce((best, v) => (Math.abs(place(v) - pointed) < Math.abs(place(best) - pointed) ? v : best), places[0]);
      }
      clear();
      if (at === undefined || share < -0.05 || share > 1.05) return;
      plot.at = at;
      const px = left + ((place(at) - place(low)) / (place(high) - place(low))) * (right - left);
      const line = document.createElementNS(svg.namespaceURI, "line");
      Object.entries({ class: "cross", x1: px, x2: px, y1: top, y2: bottom }).forEach(([name, value]) => line.setAttribute(name, value));
      svg.append(line);
      const rows = shown.flatMap((one) => {
        const found = valueAt(one, at, data.levels);
        if (!found) return [];
        const [, v, from, to, reps] = found;
        const interval = from == null ? "" : ` [${written(data.y, from)}, ${written(data.y, to)}]`;
        const name = make("td", {}, one.name);
        name.style.borderLeft = `3px solid ${one.colour}`;
        return [make("tr", {}, name, make("td", {}, written(data.y, v) + interval + (reps ? `, ${reps} ${data.of}` : "")))];
      });
      say(box.left + px * scale, wanted === undefined ? y : box.top + top * scale, make("b", {}, `${data.x.label}: ${written(data.x, at)}`), make("table", {}, ...rows));
    };
    plot.addEventListener("pointermove", (event) => {
      const mark = event.target.closest("[data-facts]"), svg = event.target.closest("svg[data-frame]");
      if (mark) say(event.clientX, event.clientY, ...words(mark));
      else if (svg && data) cross(svg, event.clientX, event.clientY);
      else clear();
    });
    plot.addEventListener("pointerleave", clear);
    plot.addEventListener("focusout", clear);
    plot.addEventListener("focusin", ({ target }) => {
      const box = target.getBoundingClientRect();
      if (target.dataset.facts && target.matches(":focus-visible")) say(box.right, box.bottom, ...words(target));
    });
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], svg = all("svg[data-frame]", plot).find((one) => one.clientWidth);
      if (!step || !data || !svg) return;
      event.preventDefault();
      const places = [...new Set(data.series.flatMap((one) => one.points.map(([v]) => v)))].sort((a, b) => a - b);
      const stride = step * Math.ceil(places.length / 100), now = places.findIndex((v) => v >= (plot.at ?? -Infinity));
      cross(svg, 0, 0, places[plot.at === undefined ? 0 : Math.max(0, Math.min(places.length - 1, now + stride))]);
    });
    for (const key of all(".key", plot)) {
      Object.entries({ role: "button", tabindex: 0, "aria-pressed": true }).forEach(([name, value]) => key.setAttribute(name, value));
      const group = Number(key.dataset.group);
      const press = () => {
        const off = !key.classList.contains("off");
        off ? hidden.add(group) : hidden.delete(group);
        for (const one of all(`[data-group="${group}"]`, plot)) one.classList.toggle("off", off);
        key.setAttribute("aria-pressed", String(!off));
      };
      key.addEventListener("click", press);
      key.addEventListener("keydown", (event) => [" ", "Enter"].includes(event.key) && (event.preventDefault(), press()));
    }
  }

  // ---- schedules: find a job ----

  const search = document.getElementById("find-job");
  if (search) {
    const report = document.getElementById("found-job");
    const seek = () => {
      const job = search.value.trim();
      const rows = all(".plot.schedule").flatMap((plot) => {
        const found = all("[data-job]", plot).filter((mark) => mark.classList.toggle("found", job !== "" && mark.dataset.job === job));
        plot.classList.toggle("finding", found.length > 0);
        const title = plot.parentNode.querySelector("h3").textContent;
        return found.map((mark) => make("li", {}, make("b", {}, `${title}: `), mark.dataset.facts.split("\n").slice(1).join("; ")));
      });
      report.replaceChildren(...(job && !rows.length ? [make("li", {}, `No job is called ${job}.`)] : rows));
    };
    search.addEventListener("input", seek);
    for (const plot of all(".plot.schedule")) {
      plot.addEventListener("click", ({ target }) => {
        const job = target.closest("[data-job]")?.dataset.job;
        if (job === undefined) return;
        search.value = search.value === job ? "" : job;
        seek();
      });
    }
  }
})();
