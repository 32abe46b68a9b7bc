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

  const plots = JSON.parse(document.getElementById("plots").textContent);
  if (typeof Plotly === "undefined") {
    // Better still pictures than none.
    all(".plot, .legend, .y-label").forEach((e) => e.remove());
    all(".static").forEach((e) => e.style.setProperty("display", "block", "important"));
    return;
  }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const touch = matchMedia("(hover: none)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const shown = (x) => (Math.abs(x) >= 1000 ? x.toLocaleString("en", { maximumFractionDigits: 2 }) : String(+x.toPrecision(6)));

  // A label in lines that fit.
  const wrapped = (text, width) => {
    const lines = [""];
    for (const word of text.split(" ")) {
      const longer = (lines.at(-1) + " " + word).trim();
      if (longer.length * 6.6 <= width || !lines.at(-1)) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines.map(escape).join("<br>");
  };

  // Shapes of equal area differ in width.
  const SIZE = { "triangle-up": 1.3, "triangle-down": 1.3, diamond: 1.2, star: 1.45, cross: 1.15, pentagon: 1.1, x: 1.1, square: 0.95 };

  // Values as plotly places them on a logarithmic axis.
  const placed = (axis, x) => (axis.log ? Math.log10(x) : x);

  const axisLayout = (axis, width, theme) => {
    const layout = {
      type: axis.log ? "log" : "linear",
      range: [placed(axis, axis.low), placed(axis, axis.high)],
      gridcolor: theme.hair, zeroline: axis.low < 0 && axis.high > 0 && !axis.log, zerolinecolor: theme.soft, zerolinewidth: 1,
      showline: false, ticks: "", tickfont: { color: theme.soft, size: 12 },
      separatethousands: true, exponentformat: "none", automargin: true,
    };
    if (axis.log) layout.dtick = axis.high / axis.low < 100 ? "D2" : 1;
    if (axis.ticks.length) {
      // Labels that would overlap are left out; their ticks stay.
      const share = (x) => (placed(axis, x) - layout.range[0]) / (layout.range[1] - layout.range[0]);
      let free = -Infinity;
      const labels = axis.labels.map((label, k) => {
        if (!width) return label;
        const [at, half] = [share(axis.ticks[k]) * width, label.length * 3.6];
        if (at - half < free) return "";
        free = at + half + 8;
        return label;
      });
      Object.assign(layout, { tickmode: "array", tickvals: axis.ticks, ticktext: labels });
    } else if (!axis.log) {
      layout.nticks = width ? Math.max(3, Math.round(width / 90)) : 7;
    }
    return layout;
  };

  const draw = (box) => {
    const spec = plots[box.dataset.plot];
    const theme = { paper: colour("--paper"), ink: colour("--ink"), soft: colour("--soft"), hair: colour("--hair"), tooltip: colour("--tooltip"), line: colour("--line") };
    const width = box.clientWidth - 70;
    const own = (t) => (dark.matches ? t.dark : t.light);
    const hidden = box.hiddenEntries ?? new Set();
    const low = placed(spec.x, spec.x.low), span = placed(spec.x, spec.x.high) - low;
    // Marks move aside by the same pixels as in the SVG, in data units; the hover text tells the true x.
    const aside = (t) => (x, k) => {
      if (!t.dodge.length) return x;
      const moved = placed(spec.x, x) + t.dodge[k] * span;
      return spec.x.log ? 10 ** moved : moved;
    };
    const traces = [];
    spec.traces.forEach((t, k) => {
      const visible = !hidden.has(t.entry);
      const axis = spec.strips && k ? "y" + (k + 1) : "y";
      const x = t.x.map(aside(t));
      const base = { type: "scatter", x, name: t.name, visible, yaxis: axis, showlegend: false, connectgaps: false, cliponaxis: t.style === "steps" };
      if (t.style === "steps") {
        const fill = spec.strips || spec.traces.length === 1 ? { fill: "tozeroy", fillcolor: own(t) + "22" } : {};
        traces.push({
          ...base, y: t.y, mode: "lines", ...fill, line: { shape: "hv", color: own(t), width: t.x.length > 400 ? 1.2 : 1.8 },
          hovertemplate: `<b>${escape(t.name)}</b><br>%{y:,.4~r} from %{x:,.6~r} on<extra></extra>`,
        });
        return;
      }
      if (t.dense) {
        const back = { type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: false, visible, yaxis: axis, line: { width: 0, color: own(t) } };
        traces.push({ ...back, x, y: t.high }, { ...back, x, y: t.low, fill: "tonexty", fillcolor: own(t) + "28" });
      }
      const label = t.text.map((text, k) => {
        const tick = spec.x.ticks.findIndex((at) => Math.abs(at - t.x[k]) <= 1e-9 * Math.abs(at));
        const at = tick >= 0 ? spec.x.labels[tick] : shown(t.x[k]);
        const printed = t.hollow ? ", printed in the paper" : "";
        return `<b>${escape(t.name)}</b>${printed}<br>${escape(text)}<br>at ${escape(at)}`;
      });
      if (t.style === "bars") {
        const { cliponaxis, connectgaps, ...bar } = base;
        traces.push({ ...bar, type: "bar", y: t.y, width: 0.8, marker: { color: own(t) }, hovertext: label, hovertemplate: "%{hovertext}<extra></extra>" });
        return;
      }
      const bars = !t.dense && t.low.some((v) => v !== null);
      // Marks may stand aside; the line runs through the true places.
      const apart = t.dodge.length && t.style !== "marks" && t.marks;
      if (apart) traces.push({ ...base, x: t.x, y: t.y, mode: "lines", line: { color: own(t), width: 2, dash: t.dashed ? "dash" : "solid" }, hoverinfo: "skip" });
      traces.push({
        ...base, y: t.y, mode: t.style === "marks" || apart ? "markers" : t.marks ? "lines+markers" : "lines",
        line: { color: own(t), width: 2, dash: t.dashed ? "dash" : "solid" },
        marker: {
          symbol: t.shape + (t.hollow ? "-open" : ""), size: (t.hollow ? 14 : 10) * (SIZE[t.shape] ?? 1), color: own(t),
          line: t.hollow ? { width: 1.5, color: own(t) } : { width: 1.2, color: theme.paper }, opacity: 1,
        },
        error_y: bars ? {
          type: "data", symmetric: false, color: own(t), thickness: 1.2, width: 3.5,
          array: t.y.map((y, k) => (t.high[k] === null ? 0 : Math.min(t.high[k], spec.y.high) - y)),
          arrayminus: t.y.map((y, k) => (t.low[k] === null ? 0 : y - Math.max(t.low[k], spec.y.low))),
        } : undefined,
        text: label,
        hovertemplate: "%{text}<extra></extra>",
      });
      if (!bars) return;
      // Intervals that go on beyond the picture end in arrowheads, as in the SVG.
      for (const [ends, edge, symbol] of [[t.low, spec.y.low, "triangle-down"], [t.high, spec.y.high, "triangle-up"]]) {
        const cut = ends.map((v, k) => (v !== null && (edge === spec.y.low ? v < edge : v > edge) ? k : -1)).filter((k) => k >= 0);
        if (cut.length) traces.push({ ...base, x: cut.map((k) => x[k]), y: cut.map(() => edge), mode: "markers", marker: { symbol, size: 8, color: own(t) }, hoverinfo: "skip" });
      }
    });
    if (spec.bars.length) {
      traces.push({
        type: "bar", orientation: "h", showlegend: false,
        x: spec.bars.map((b) => b.end - b.start), base: spec.bars.map((b) => b.start),
        y: spec.bars.map((b) => b.first + b.count / 2), width: spec.bars.map((b) => b.count),
        marker: { color: spec.bars.map((b) => own(b) + (dark.matches ? "b0" : "90")), line: { color: theme.paper, width: spec.bars.length > 300 ? 0 : 1 } },
        text: spec.bars.map((b) => escape(b.job)), textposition: "inside", insidetextanchor: "middle", textangle: 0, constraintext: "inside",
        insidetextfont: { color: theme.ink, size: 11 },
        hovertext: spec.bars.map((b) => {
          const wide = b.count === 1 ? `processor ${b.first}` : `processors ${b.first}–${b.first + b.count - 1}`;
          return `<b>${escape(b.job)}</b><br>started at ${shown(b.start)} ${b.unit}, ended at ${shown(b.end)} ${b.unit} (ran ${shown(b.end - b.start)} ${b.unit})<br>${wide}`;
        }),
        hovertemplate: "%{hovertext}<extra></extra>",
      });
    }
    const label = wrapped(spec.x.label, width);
    const family = getComputedStyle(document.body).fontFamily;
    const layout = {
      autosize: true, height: box.clientHeight, margin: { l: 12, r: 14, t: 10, b: label.includes("<br>") ? 64 : 50 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family, color: theme.ink, size: 12 },
      xaxis: {
        ...axisLayout(spec.x, width, theme), showgrid: false, zeroline: false, showline: true, linecolor: theme.soft,
        ticks: "outside", ticklen: 4, tickcolor: theme.soft, tickangle: 0,
        title: { text: label, font: { size: 12, color: theme.soft }, standoff: 10 },
      },
      yaxis: { ...axisLayout(spec.y, 0, theme), showgrid: !spec.bars.length },
      showlegend: false,
      hovermode: "closest", hoverdistance: 24,
      hoverlabel: { bgcolor: theme.tooltip, bordercolor: theme.line, font: { color: theme.ink, size: 13, family }, align: "left" },
      shapes: spec.sites.map(([first]) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: first, y1: first, line: { color: theme.soft, width: 1 } })),
      annotations: spec.sites.length > 12 ? [] : spec.sites.map(([first, name]) => ({
        text: escape(name), xref: "paper", x: 1, xanchor: "right", y: first, yanchor: "bottom", showarrow: false, font: { size: 11, color: theme.soft },
      })),
      dragmode: touch.matches ? false : "zoom", bargap: 0, barmode: "overlay", uniformtext: { minsize: 8, mode: "hide" },
    };
    if (spec.strips) {
      const n = spec.traces.length;
      spec.traces.forEach((_, k) => {
        layout[k ? "yaxis" + (k + 1) : "yaxis"] = { ...axisLayout(spec.y, 0, theme), nticks: 3, domain: [1 - (k + 1) / n + 0.03, 1 - k / n - 0.02], zeroline: true, zerolinecolor: theme.soft };
      });
      layout.xaxis.anchor = n > 1 ? "y" + n : "y";
    }
    const config = {
      displaylogo: false, displayModeBar: touch.matches ? false : "hover", scrollZoom: false, responsive: false, doubleClick: "reset",
      modeBarButtons: [["zoom2d", "pan2d", "resetScale2d"]],
    };
    Plotly.react(box, traces, layout, config);
    box.drawnAt = box.clientWidth;
  };

  const boxes = all(".plot");
  const drawn = new Set();
  const start = (box) => {
    if (drawn.has(box)) return;
    drawn.add(box);
    draw(box);
  };
  if ("IntersectionObserver" in window) {
    const near = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        near.unobserve(entry.target);
        start(entry.target);
      }
    }, { rootMargin: "600px 0px" });
    boxes.forEach((box) => near.observe(box));
  } else {
    boxes.forEach(start);
  }
  if ("ResizeObserver" in window) {
    const resized = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        if (drawn.has(target) && target.clientWidth && target.clientWidth !== target.drawnAt) draw(target);
      }
    });
    boxes.forEach((box) => resized.observe(box));
  }
  dark.addEventListener("change", () => drawn.forEach(draw));

  for (const legend of all(".legend")) {
    const box = legend.parentNode.querySelector(".plot");
    const buttons = all("button", legend);
    const apply = () => {
      box.hiddenEntries = new Set(buttons.filter((b) => b.getAttribute("aria-pressed") === "false").map((b) => Number(b.dataset.entry)));
      if (drawn.has(box)) draw(box);
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
})();
