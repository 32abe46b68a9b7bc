"use strict";
// Plots that answer, on a canvas each: hover, zoom by dragging, series by name. The page's pictures are what is printed and
// what is seen without scripts; a plot shows the same data on the same axes, described by chart/interactive.rs.
const Plots = (() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const own = (thing) => (dark.matches ? thing.dark : thing.light);
  // Four digits, and whole numbers as they are.
  const shown = (x) => (Math.abs(x) >= 1000 ? x.toLocaleString("en", { maximumFractionDigits: 0 }) : String(+x.toPrecision(4)).replace("-", "−"));
  // Above a panel that has a name: its name.
  const NAME = 24;
  const plots = [];

  // ---- axes ----

  // Values as they are placed: logarithms on a logarithmic axis.
  const placed = (axis, x) => (axis.log ? Math.log10(x) : x);

  // Round steps, about so many.
  const round = (low, high, wanted) => {
    const raw = (high - low) / Math.max(1, wanted);
    const ten = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((f) => f * ten).find((s) => s >= raw * 0.999);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
      // Plus zero: minus zero is zero, too, and would be written with its sign.
      ticks.push([k * step, (k * step + 0).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−")]);
    }
    return ticks;
  };

  // Places and labels of the ticks in view, for an axis of so many pixels.
  const ticksOf = (axis, [low, high], pixels, room) => {
    const inside = ([at]) => at >= low - 1e-9 * (high - low) && at <= high + 1e-9 * (high - low);
    const exact = axis.ticks.map((at, k) => [placed(axis, at), axis.labels[k]]).filter(inside);
    if (exact.length > 1 || (exact.length && axis.categories)) return exact;
    if (!axis.log) return round(low, high, pixels / room);
    const ticks = [];
    for (let ten = Math.floor(low); ten <= high; ten++) {
      for (const f of high - low < 2 ? [1, 2, 5] : [1]) ticks.push([ten + Math.log10(f), (f * 10 ** ten).toLocaleString("en", { maximumFractionDigits: 6 })]);
    }
    const some = ticks.filter(inside);
    return some.length > 1 ? some : round(10 ** low, 10 ** high, pixels / room).map(([at, label]) => [Math.log10(at), label]).filter(inside);
  };

  // ---- one plot ----

  class Plot {
    constructor(box, spec) {
      Object.assign(this, { box, spec, hidden: new Set(), canvas: document.createElement("canvas") });
      this.tip = document.createElement("div");
      this.tip.className = "tip";
      this.tip.hidden = true;
      this.frame = document.createElement("div");
      this.frame.className = "rubber";
      this.frame.hidden = true;
      this.back = document.createElement("button");
      this.back.type = "button";
      this.back.className = "zoom-out";
      this.back.textContent = "Show all";
      this.back.hidden = true;
      this.back.addEventListener("click", () => this.zoom(null, null));
      box.append(this.canvas, this.frame, this.tip, this.back);
      this.panels = spec.strips.length ? spec.strips : [spec.y];
      this.home();
      this.listen();
    }

    home() {
      const whole = (axis) => [placed(axis, axis.low), placed(axis, axis.high)];
      this.x = whole(this.spec.x);
      this.ys = this.panels.map(whole);
      this.back.hidden = true;
    }

    // Shows a part of it, and the same stretch of x in all plots that are linked with it.
    zoom(x, y) {
      const whole = [placed(this.spec.x, this.spec.x.low), placed(this.spec.x, this.spec.x.high)];
      const span = x ?? whole;
      for (const other of plots) {
        if (other !== this && !(this.spec.link && other.spec.link === this.spec.link)) continue;
        if (!x) other.home();
        else {
          other.x = span;
          if (other === this && y) other.ys = [y];
          other.back.hidden = false;
        }
        if (other.drawn) other.draw();
      }
    }

    // What a panel's values are in pixels.
    place(panel) {
      const { left, right, top, bottom } = this.area;
      const n = this.panels.length;
      const high = top + (panel * (bottom - top)) / n + (n > 1 ? NAME : 0);
      const low = top + ((panel + 1) * (bottom - top)) / n;
      const [x0, x1] = this.x, [y0, y1] = this.ys[panel];
      return {
        high, low,
        x: (v) => left + ((v - x0) / (x1 - x0)) * (right - left),
        y: (v) => low - ((v - y0) / (y1 - y0)) * (low - high),
        px: (p) => x0 + ((p - left) / (right - left)) * (x1 - x0),
        py: (p) => y0 + ((low - p) / (low - high)) * (y1 - y0),
      };
    }

    draw() {
      this.drawn = true;
      const { box, canvas, spec } = this;
      const [width, height] = [box.clientWidth, box.clientHeight];
      if (!width || !height) return;
      const sharp = devicePixelRatio || 1;
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
      const c = (this.c = canvas.getContext("2d"));
      c.setTransform(sharp, 0, 0, sharp, 0, 0);
      c.clearRect(0, 0, width, height);
      this.theme = { ink: css("--ink"), soft: css("--soft"), hair: css("--hair"), paper: css("--paper") };
      this.family = getComputedStyle(document.body).fontFamily;
      c.font = `12px ${this.family}`;
      const lines = this.wrapped(spec.x.label, width - 80);
      this.names = this.named(width - 80);
      this.area = { left: 0, right: width - 14, top: 10, bottom: height - 10 - 14 * this.names - 16 * lines.length };
      const n = this.panels.length;
      const room = (this.area.bottom - this.area.top) / n - (n > 1 ? NAME : 0);
      const ticks = this.panels.map((axis, k) => ticksOf(axis, this.ys[k], room, n > 1 ? 32 : 46));
      const widest = Math.max(...ticks.flat().map(([, label]) => c.measureText(label).width), 8);
      this.area.left = Math.min(widest + 10, width / 3);
      this.grid(ticks);
      for (let panel = 0; panel < n; panel++) {
        const place = this.place(panel);
        c.save();
        c.beginPath();
        c.rect(this.area.left - 6, place.high - 6, this.area.right - this.area.left + 12, place.low - place.high + 7);
        c.clip();
        spec.traces.forEach((trace, k) => {
          if (!this.hidden.has(trace.entry) && (n === 1 || k === panel)) this.trace(trace, place);
        });
        if (spec.bars.length) this.bars(place);
        c.restore();
      }
      this.sites();
      this.below(lines);
      this.at = width;
    }

    wrapped(text, width) {
      const lines = [""];
      for (const word of text.split(" ")) {
        const longer = `${lines.at(-1)} ${word}`.trim();
        if (!lines.at(-1) || this.c.measureText(longer).width <= width) lines[lines.length - 1] = longer;
        else lines.push(word);
      }
      return lines;
    }

    // How many lines the names below the ticks take: more than one where they would overlap in a line of such a width.
    named(width) {
      const ticks = this.spec.x.labels.length ? ticksOf(this.spec.x, this.x, width, 90) : [];
      this.slot = width / Math.max(ticks.length - 1, 1) - 8;
      if (ticks.every(([, label]) => this.c.measureText(label).width <= this.slot)) this.slot = Infinity;
      return Math.max(1, ...ticks.map(([, label]) => this.wrapped(label, this.slot).length));
    }

    stroke(points, colour, width) {
      const { c } = this;
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.beginPath();
      points.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
      c.stroke();
    }

    grid(ticks) {
      const { c, area, theme, spec } = this;
      c.textBaseline = "middle";
      ticks.forEach((some, panel) => {
        const place = this.place(panel);
        for (const [at, label] of some) {
          const y = Math.round(place.y(at)) + 0.5;
          if (!spec.bars.length) this.stroke([[area.left, y], [area.right, y]], at === 0 && this.ys[panel][0] < 0 ? theme.soft : theme.hair, 1);
          c.fillStyle = theme.soft;
          c.textAlign = "right";
          c.fillText(label, area.left - 7, y);
        }
        if (this.panels.length > 1) {
          c.font = `600 12px ${this.family}`;
          c.fillStyle = own(spec.traces[panel]);
          c.textAlign = "left";
          c.fillText(spec.traces[panel].name, area.left, place.high - 10);
          c.font = `12px ${this.family}`;
        }
      });
    }

    below(lines) {
      const { c, area, theme, spec } = this;
      this.stroke([[area.left, area.bottom + 0.5], [area.right, area.bottom + 0.5]], theme.soft, 1);
      const place = this.place(this.panels.length - 1);
      c.fillStyle = theme.soft;
      c.textBaseline = "top";
      c.textAlign = "center";
      let free = -Infinity;
      for (const [at, label] of ticksOf(spec.x, this.x, area.right - area.left, 90)) {
        const name = this.wrapped(label, this.slot);
        const x = Math.round(place.x(at)) + 0.5, half = Math.max(...name.map((line) => c.measureText(line).width)) / 2;
        this.stroke([[x, area.bottom], [x, area.bottom + 4]], theme.soft, 1);
        // A label keeps to the picture; one that would overlap is left out, and its tick stays.
        const middle = Math.max(half, Math.min(x, this.box.clientWidth - half - 1));
        if (middle - half < free) continue;
        name.forEach((line, k) => c.fillText(line, middle, area.bottom + 7 + 14 * k));
        free = middle + half + (name.length > 1 ? 4 : 8);
      }
      lines.forEach((line, k) => c.fillText(line, (area.left + area.right) / 2, area.bottom + 10 + 14 * this.names + 16 * k));
    }

    // The true x of a mark is in its text; marks of several series stand aside from each other.
    aside(trace, k) {
      const low = placed(this.spec.x, this.spec.x.low), high = placed(this.spec.x, this.spec.x.high);
      return placed(this.spec.x, trace.x[k]) + (trace.dodge.length ? trace.dodge[k] * (high - low) : 0);
    }

    // Runs of points between breaks, in pixels.
    runs(trace, values, place, axis, x) {
      const runs = [[]];
      values.forEach((v, k) => {
        if (v === null) runs.push([]);
        else runs.at(-1).push([place.x(x(k)), place.y(placed(axis, v))]);
      });
      return runs.filter((run) => run.length);
    }

    trace(trace, place) {
      const { c, spec } = this;
      const colour = own(trace);
      const axis = spec.y;
      const ground = Math.min(place.y(0), place.low);
      const plain = (k) => placed(spec.x, trace.x[k]);
      if (trace.style === "bars") {
        const half = Math.abs(place.x(0.4) - place.x(0));
        c.fillStyle = colour;
        trace.y.forEach((y, k) => y !== null && c.fillRect(place.x(trace.x[k]) - half, place.y(y), 2 * half, ground - place.y(y)));
        return;
      }
      if (trace.style === "steps") {
        for (const run of this.runs(trace, trace.y, place, axis, plain)) {
          const steps = run.flatMap(([x, y], k) => (k ? [[x, run[k - 1][1]], [x, y]] : [[x, y]]));
          if (spec.strips.length || spec.traces.length === 1) this.fill([...steps, [steps.at(-1)[0], ground], [steps[0][0], ground]], `${colour}22`);
          this.stroke(steps, colour, run.length > 400 ? 1.2 : 1.8);
        }
        return;
      }
      if (trace.dense) {
        const ends = trace.x.map((_, k) => k).filter((k) => trace.low[k] !== null && trace.high[k] !== null);
        const edge = (values, ks) => ks.map((k) => [place.x(plain(k)), place.y(placed(axis, values[k]))]);
        if (ends.length > 1) this.fill([...edge(trace.high, ends), ...edge(trace.low, ends.toReversed())], `${colour}28`);
      }
      if (trace.style !== "marks") {
        c.setLineDash(trace.dashed ? [6, 4] : []);
        for (const run of this.runs(trace, trace.y, place, axis, plain)) this.stroke(run, colour, 2);
        c.setLineDash([]);
      }
      if (!trace.marks) return;
      trace.y.forEach((y, k) => {
        if (y === null) return;
        const at = [place.x(this.aside(trace, k)), place.y(placed(axis, y))];
        if (!trace.hollow) this.whisker(trace, k, at, place, colour);
        this.mark(trace, at, colour);
      });
    }

    fill(points, colour) {
      const { c } = this;
      c.fillStyle = colour;
      c.beginPath();
      points.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
      c.closePath();
      c.fill();
    }

    // The interval; an end that lies beyond the picture is an arrowhead.
    whisker(trace, k, [x, y], place, colour) {
      for (const [end, edge, down] of [[trace.low[k], place.low, 1], [trace.high[k], place.high, -1]]) {
        if (end === null || end === undefined) continue;
        const to = place.y(placed(this.spec.y, end));
        const beyond = down > 0 ? to > edge : to < edge;
        const stop = beyond || !isFinite(to) ? edge : to;
        this.stroke([[x, y], [x, stop]], colour, 1.2);
        if (beyond) this.fill([[x - 4, stop - 6 * down], [x + 4, stop - 6 * down], [x, stop]], colour);
        else this.stroke([[x - 3.5, stop], [x + 3.5, stop]], colour, 1.2);
      }
    }

    mark(trace, [x, y], colour) {
      const { c, theme } = this;
      const size = trace.hollow ? 1.35 : 1;
      c.beginPath();
      trace.mark.forEach(([dx, dy], k) => (k ? c.lineTo(x + size * dx, y + size * dy) : c.moveTo(x + size * dx, y + size * dy)));
      c.closePath();
      c.lineJoin = "round";
      if (trace.hollow) {
        c.strokeStyle = colour;
        c.lineWidth = 1.5;
        c.stroke();
        return;
      }
      c.strokeStyle = theme.paper;
      c.lineWidth = 2.4;
      c.stroke();
      c.fillStyle = colour;
      c.fill();
    }

    bars(place) {
      const { c, theme, spec } = this;
      const gap = spec.bars.length > 300 ? 0 : 0.5;
      c.textAlign = "center";
      c.textBaseline = "middle";
      for (const bar of spec.bars) {
        const [x0, x1] = [place.x(bar.start), place.x(bar.end)];
        if (x1 < this.area.left || x0 > this.area.right) continue;
        const chosen = Plots.found === bar.job;
        c.globalAlpha = Plots.found && !chosen ? 0.25 : 1;
        for (const [first, count] of bar.blocks) {
          const [y0, y1] = [place.y(first + count), place.y(first)];
          const wide = Math.max(x1 - x0 - 2 * gap, 0.6), tall = Math.max(y1 - y0 - (y1 - y0 > 3 ? 2 * gap : 0), 0.6);
          c.fillStyle = own(bar) + (chosen ? "" : dark.matches ? "a0" : "90");
          c.fillRect(x0 + gap, y0 + gap, wide, tall);
          if (chosen) {
            c.strokeStyle = theme.ink;
            c.lineWidth = 1.5;
            c.strokeRect(x0 + gap, y0 + gap, wide, tall);
          }
          if (tall < 9) continue;
          c.font = `${Math.min(11, tall - 1)}px ${this.family}`;
          const text = Math.max(x0, this.area.left), until = Math.min(x1, this.area.right);
          if (c.measureText(bar.job).width > until - text - 4) continue;
          c.fillStyle = theme.ink;
          c.fillText(bar.job, (text + until) / 2, (y0 + y1) / 2);
        }
        c.globalAlpha = 1;
      }
      c.font = `12px ${this.family}`;
    }

    // Lines between the sites of a schedule, and their names where there is room.
    sites() {
      const { c, spec, area, theme } = this;
      const place = this.place(0);
      c.textAlign = "right";
      c.textBaseline = "bottom";
      for (const [k, [first, name]] of spec.sites.entries()) {
        const y = place.y(first);
        if (y < area.top || y > area.bottom + 1) continue;
        this.stroke([[area.left, y], [area.right, y]], theme.soft, 1);
        c.fillStyle = theme.soft;
        const next = spec.sites[k + 1];
        const above = Math.max(area.top, next ? place.y(next[0]) : area.top);
        if (y - above < 15) continue;
        // It may stand on a job.
        c.strokeStyle = theme.paper;
        c.lineWidth = 3;
        c.lineJoin = "round";
        c.strokeText(name, area.right - 4, y - 1);
        c.fillText(name, area.right - 4, y - 1);
      }
    }

    // ---- answers ----

    // What is under the pointer: lines of text, the first of them its name.
    under(px, py) {
      const { spec } = this;
      const panel = Math.min(this.panels.length - 1, Math.max(0, Math.floor(((py - this.area.top) / (this.area.bottom - this.area.top)) * this.panels.length)));
      const place = this.place(panel);
      const [x, y] = [place.px(px), place.py(py)];
      const near = 2 * Math.abs(place.px(1) - place.px(0));
      const bar = spec.bars.find((b) => b.start - near <= x && x <= b.end + near && b.blocks.some(([first, count]) => first <= y && y <= first + count));
      if (bar) return { name: `Job ${bar.job}`, lines: bar.facts, bar };
      let best = null, least = 24;
      spec.traces.forEach((trace, k) => {
        if (this.hidden.has(trace.entry) || (this.panels.length > 1 && k !== panel)) return;
        if (trace.style === "steps") {
          let low = 0, high = trace.x.length;
          while (low < high) {
            const middle = (low + high) >> 1;
            if (placed(spec.x, trace.x[middle]) <= x) low = middle + 1;
            else high = middle;
          }
          const at = low - 1;
          if (at < 0 || trace.y[at] === null) return;
          const away = Math.abs(place.y(trace.y[at]) - py);
          if (this.panels.length > 1 || away < least) {
            least = Math.min(away, least);
            best = { name: trace.name, lines: [`${shown(trace.y[at])}${spec.y.unit} from ${shown(trace.x[at])}${spec.x.unit} on`], colour: own(trace) };
          }
          return;
        }
        trace.y.forEach((v, at) => {
          if (v === null) return;
          const away = Math.hypot(place.x(this.aside(trace, at)) - px, place.y(placed(spec.y, v)) - py);
          if (away >= least) return;
          least = away;
          const tick = spec.x.ticks.findIndex((one) => Math.abs(one - trace.x[at]) <= 1e-9 * Math.abs(one));
          const where = tick >= 0 ? spec.x.labels[tick] + (/^[-−]?[\d.,]+$/.test(spec.x.labels[tick]) ? spec.x.unit : "") : shown(trace.x[at]) + spec.x.unit;
          best = { name: trace.name + (trace.hollow ? ", printed in the paper" : ""), lines: [trace.text[at], `at ${where}`], colour: own(trace) };
        });
      });
      return best;
    }

    point(px, py) {
      const { tip, box } = this;
      const found = this.inside(px, py) ? this.under(px, py) : null;
      tip.hidden = !found;
      this.canvas.style.cursor = found?.bar ? "pointer" : "crosshair";
      if (!found) return;
      const name = document.createElement("b");
      name.textContent = found.name;
      if (found.colour) name.style.borderLeft = `3px solid ${found.colour}`;
      tip.replaceChildren(name, ...found.lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
      const [w, h] = [tip.offsetWidth, tip.offsetHeight];
      tip.style.left = `${Math.max(0, px + 14 + w > box.clientWidth ? Math.max(0, px - w - 14) : px + 14)}px`;
      tip.style.top = `${Math.max(-h / 2, py - h - 10 < 0 ? py + 14 : py - h - 10)}px`;
    }

    inside(px, py) {
      const { left, right, top, bottom } = this.area;
      return px >= left - 8 && px <= right + 8 && py >= top - 8 && py <= bottom + 8;
    }

    listen() {
      const { canvas, frame } = this;
      let from = null;
      const at = (event) => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
      };
      // Of a rectangle that is narrow one way, only the other way is zoomed.
      const stretch = ([x0, y0], [x1, y1]) => {
        const { left, right, top, bottom } = this.area;
        const clamp = (v, low, high) => Math.min(high, Math.max(low, v));
        const xs = [x0, x1].map((x) => clamp(x, left, right)).sort((a, b) => a - b);
        const ys = [y0, y1].map((y) => clamp(y, top, bottom)).sort((a, b) => a - b);
        const tall = this.panels.length === 1 && ys[1] - ys[0] > 24 && !this.spec.strips.length;
        return { xs, ys: tall ? ys : null };
      };
      canvas.addEventListener("pointermove", (event) => {
        const to = at(event);
        if (!from) {
          this.point(...to);
          return;
        }
        const { xs, ys } = stretch(from, to);
        frame.hidden = xs[1] - xs[0] < 6;
        this.tip.hidden = true;
        const [top, bottom] = ys ?? [this.area.top, this.area.bottom];
        Object.assign(frame.style, { left: `${xs[0]}px`, width: `${xs[1] - xs[0]}px`, top: `${top}px`, height: `${bottom - top}px` });
      });
      canvas.addEventListener("pointerdown", (event) => {
        if (event.pointerType === "touch" || event.button) {
          this.point(...at(event));
          return;
        }
        from = at(event);
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointerup", (event) => {
        if (!from) return;
        const { xs, ys } = stretch(from, at(event));
        const start = from;
        from = null;
        frame.hidden = true;
        if (xs[1] - xs[0] < 6) {
          const found = this.under(...start);
          if (found?.bar) Plots.find(Plots.found === found.bar.job ? "" : found.bar.job);
          return;
        }
        const place = this.place(0);
        this.zoom(xs.map(place.px), ys && [place.py(ys[1]), place.py(ys[0])]);
      });
      canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
      canvas.addEventListener("dblclick", () => this.zoom(null, null));
    }
  }

  const near = "IntersectionObserver" in window
    ? new IntersectionObserver((entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting && !target.plot.drawn) target.plot.draw();
      }, { rootMargin: "600px 0px" })
    : null;
  const resized = "ResizeObserver" in window
    ? new ResizeObserver((entries) => {
        for (const { target } of entries) if (target.plot.drawn && target.clientWidth && target.clientWidth !== target.plot.at) target.plot.draw();
      })
    : null;
  dark.addEventListener("change", () => plots.forEach((plot) => plot.drawn && plot.draw()));

  return {
    // The job that is marked in every schedule.
    found: "",
    add(box, spec) {
      box.plot = new Plot(box, spec);
      plots.push(box.plot);
      near ? near.observe(box) : box.plot.draw();
      resized?.observe(box);
      return box.plot;
    },
    // Marks a job in all schedules; tells whether there is one of this name.
    find(job) {
      const there = plots.some((plot) => plot.spec.bars.some((bar) => bar.job === job));
      this.found = there ? job : "";
      for (const plot of plots) if (plot.spec.bars.length && plot.drawn) plot.draw();
      document.dispatchEvent(new CustomEvent("job", { detail: this.found }));
      return there;
    },
    // What became of a job in each schedule: titles and lines.
    facts(job) {
      return plots.flatMap((plot) => plot.spec.bars.filter((bar) => bar.job === job).map((bar) => [plot.spec.title, bar.facts]));
    },
  };
})();
