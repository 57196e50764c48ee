"use strict";
(async () => {
  const first = document.getElementById("first-figure");
  const figures = [JSON.parse(first.textContent)];

  // A large page has its figures compressed: the length of their JSON, the JSON, and the upper halves of all numbers.
  async function inflate(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const block = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    const length = new Uint32Array(block, 0, 1)[0];
    const found = JSON.parse(new TextDecoder().decode(new Uint8Array(block, 4, length)));
    const halves = new Uint32Array(block, 4 + length);
    const words = new Uint32Array(2 * halves.length);
    halves.forEach((half, number) => { words[2 * number + 1] = half; });
    const numbers = new Float64Array(words.buffer);
    for (const trace of found.flatMap((figure) => figure.views).flatMap((view) => view.data)) {
      for (const [key, value] of Object.entries(trace)) {
        if (value && value.count !== undefined) trace[key] = numbers.subarray(value.at, value.at + value.count);
      }
    }
    return found;
  }

  const narrow = () => window.innerWidth < 700;
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const MOST_LABELS = 12; // lines that have their names at their ends; of more, the names above the plot tell
  const LABEL_HEIGHT = 16;

  // Traces have the colours of light pages; the page's style has those of the present one.
  const palette = new Map(first.dataset.palette.split(" ").map((colour, number) => [colour, number]));
  const [marks, strokes] = [first.dataset.marks, first.dataset.strokes].map(JSON.parse);
  const hue = (colour) => (palette.has(colour) ? ink(`--hue-${palette.get(colour)}`) : colour);
  function recolour(trace) {
    const drawn = { ...trace };
    for (const key of ["line", "marker", "error_x", "error_y"]) {
      if (trace[key] && trace[key].color) drawn[key] = { ...trace[key], color: hue(trace[key].color) };
    }
    if (trace.fillcolor) drawn.fillcolor = hue(trace.fillcolor);
    return drawn;
  }

  const about = (trace) => trace.meta || {};
  const group = (trace) => trace.legendgroup || trace.name;
  const named = (view) => view.data.filter((trace) => trace.name && trace.showlegend !== false && about(trace).part !== "bound");
  const isLine = (trace) => (trace.mode || "").includes("lines") && trace.showlegend !== false && trace.visible !== false && trace.visible !== "legendonly";

  // What every figure shares; colours come from the page's style so that dark and light agree.
  function frame(view, figure, state) {
    const axis = { gridcolor: ink("--line"), linecolor: ink("--line"), zerolinecolor: ink("--soft"), zeroline: false, exponentformat: "power" };
    const layout = {
      height: figure.height, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest",
      font: { color: ink("--ink"), family: "system-ui, sans-serif", size: narrow() ? 12 : 13 },
      margin: { l: narrow() ? 52 : 70, r: 12, t: 12, b: 48 }, ...structuredClone(view.layout),
    };
    layout.xaxis = { ...axis, ...layout.xaxis };
    layout.yaxis = { ...axis, automargin: true, ...layout.yaxis };
    layout.showlegend = false;
    const labels = labelled(view);
    if (labels.length) layout.margin.r = 24 + 7 * Math.max(...labels.map((trace) => short(trace.name).length));
    for (const [name, key] of [["log x", "xaxis"], ["log y", "yaxis"]]) {
      if (!(name in state)) continue;
      const type = state[name] ? "log" : "linear";
      if ((layout[key].type || "linear") !== type) { layout[key].type = type; delete layout[key].range; }
    }
    return layout;
  }

  const chosen = { problem: "", backend: "" };

  const plain = (name) => new DOMParser().parseFromString(name, "text/html").body.textContent;
  const short = (name) => (plain(name).length > 26 ? `${plain(name).slice(0, 25)}…` : plain(name)); // beside a plot
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  // The lines that have their names at their ends.
  function labelled(view) {
    const lines = view.data.filter((trace) => isLine(trace) && trace.x.length > 1);
    return narrow() || lines.length < 2 || lines.length > MOST_LABELS ? [] : lines;
  }

  // Leaders go from the ends of lines to places in one column. Two that cross exchange their places, which makes
  // both together shorter: so it ends.
  function untangle(places, edge) {
    const below = (one, other) => {
      const x = Math.max(one.x, other.x);
      const height = ({ x: from, y, at }) => y + ((at - y) * (x - from)) / Math.max(edge - from, 1);
      return Math.sign(height(one) - height(other));
    };
    const cross = (one, other) => below(one, other) * Math.sign(one.at - other.at) < 0;
    for (let found = true; found; ) {
      found = false;
      places.forEach((one, number) => places.slice(number + 1).filter((other) => cross(one, other)).forEach((other) => {
        [one.at, other.at] = [other.at, one.at];
        found = true;
      }));
    }
  }

  // Names at the ends of lines, moved apart where they would overlap.
  function labels(plot, view, hidden) {
    const { xaxis, yaxis, _size: size } = plot._fullLayout;
    const places = labelled(view).filter((trace) => !hidden.has(group(trace))).flatMap((trace) => {
      const last = trace.y.findLastIndex((value, number) => Number.isFinite(value) && Number.isFinite(trace.x[number]));
      if (last < 0) return [];
      const [x, y] = [xaxis.d2p(trace.x[last]), yaxis.d2p(trace.y[last])];
      return Number.isFinite(x) && Number.isFinite(y) ? [{ trace, x: Math.min(x, size.w), y: Math.min(Math.max(y, 0), size.h) }] : [];
    }).sort((one, other) => one.y - other.y);
    let lowest = -Infinity;
    for (const place of places) { place.at = Math.max(place.y, lowest + LABEL_HEIGHT); lowest = place.at; }
    let highest = size.h - 6;
    for (const place of places.toReversed()) { place.at = Math.min(place.at, highest); highest = place.at - LABEL_HEIGHT; }
    untangle(places, size.w + 8);
    return places.map(({ trace, x, y, at }) => ({
      xref: "paper", yref: "paper", x: x / size.w, y: 1 - y / size.h,
      ax: size.w - x + 8, ay: at - y, xanchor: "left", yanchor: "middle", axref: "pixel", ayref: "pixel",
      text: escaped(short(trace.name)), showarrow: true, arrowhead: 0, arrowwidth: 0.6, standoff: 3,
      arrowcolor: hue(trace.line.color), font: { color: hue(trace.line.color), size: 12 }, borderpad: 0, name: group(trace),
    }));
  }

  // Ticks of a logarithmic axis: powers of ten, or 1, 2, 5 written out where it has few of them; Plotly alone
  // would write a digit, 5 for 0.5.
  function ticks(plot) {
    const change = {};
    for (const key of ["xaxis", "yaxis"]) {
      const { type, range, tickvals } = plot._fullLayout[key];
      if (tickvals) continue; // names, or the numbers that were varied
      const decades = type === "log" ? Math.abs(range[1] - range[0]) : 0;
      const few = decades < 2.2;
      const step = decades < 0.1 ? null : few ? (decades < 0.5 ? "D1" : "D2") : Math.ceil(decades / 5);
      change[`${key}.tickmode`] = step === null ? "auto" : "linear";
      change[`${key}.dtick`] = step;
      change[`${key}.tick0`] = step === null ? null : 0;
      change[`${key}.tickformat`] = type === "log" && few ? "~g" : "";
    }
    return change;
  }

  // One method stands out, the others are dimmed: by pointing at it, or by its name above the plot.
  function highlight(plot, name) {
    for (const drawn of plot.querySelectorAll(".scatterlayer .trace")) {
      const { trace } = drawn.__data__[0];
      drawn.style.opacity = trace.opacity * (name === null || group(trace) === name ? 1 : 0.12);
    }
    plot.querySelectorAll(".annotation").forEach((drawn) => {
      const label = plot._fullLayout.annotations[Number(drawn.dataset.index)];
      drawn.style.opacity = name === null || !label || label.name === name ? "" : "0.2";
    });
  }

  function traces(view, state) {
    return view.data
      .filter((trace) => !chosen.backend || !about(trace).backend || about(trace).backend === chosen.backend)
      .filter((trace) => about(trace).part !== "band" || state.bands)
      .filter((trace) => !state.hidden.has(group(trace)))
      .map((trace) => (about(trace).part === "band" ? { ...trace, visible: true } : trace))
      .map(recolour);
  }

  async function draw(element, figure, state) {
    const view = figure.views[state.view];
    const settings = {
      displaylogo: false, responsive: true, modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "toImage"],
      displayModeBar: narrow() ? false : undefined,
    };
    const plot = element.querySelector(".plot");
    await Plotly.react(plot, traces(view, state), frame(view, figure, state), settings);
    const place = (shown) => Plotly.update(plot, {}, { ...ticks(plot), annotations: labels(plot, shown, state.hidden) });
    await place(view);
    // so that paper, which is not as wide as the screen, has all of it
    for (const layer of plot.querySelectorAll(".main-svg")) layer.setAttribute("viewBox", `0 0 ${layer.getAttribute("width")} ${layer.getAttribute("height")}`);
    if (state.listens) return;
    state.listens = true;
    plot.on("plotly_hover", (event) => highlight(plot, group(event.points[0].data)));
    plot.on("plotly_unhover", () => highlight(plot, null));
    plot.on("plotly_relayout", (change) => { if (Object.keys(change).some((key) => key.includes("axis"))) place(figure.views[state.view]); });
  }

  function key(trace) {
    const line = trace.line || {}, marker = trace.marker || {};
    const shape = "http://www.w3.org/2000/svg";
    const drawn = document.createElementNS(shape, "svg");
    drawn.setAttribute("class", "key");
    drawn.setAttribute("viewBox", "0 0 24 12");
    drawn.setAttribute("aria-hidden", "true");
    const colour = line.color || marker.color;
    drawn.style.color = palette.has(colour) ? `var(--hue-${palette.get(colour)})` : colour;
    const path = document.createElementNS(shape, "path");
    const lines = (trace.mode || "").includes("lines");
    path.setAttribute("d", lines ? "M0 6H24" : marks[(marker.symbol || "circle").replace("-open", "")] || marks.circle);
    if (lines) { path.setAttribute("stroke", "currentColor"); path.setAttribute("stroke-width", "2"); }
    else path.setAttribute("fill", "currentColor");
    if (lines && strokes[line.dash]) path.setAttribute("stroke-dasharray", strokes[line.dash]);
    drawn.append(path);
    return drawn;
  }

  // Names as buttons: pointing at one or reaching it by keyboard shows it alone, pressing hides it.
  function addNames(place, element, figure, state, redraw) {
    const row = document.createElement("span");
    row.className = "names";
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", "Methods");
    const fill = () => {
      const entries = named(figure.views[state.view]);
      row.replaceChildren(...entries.map((trace) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(key(trace), plain(trace.name));
        button.setAttribute("aria-pressed", String(!state.hidden.has(group(trace))));
        const plot = element.querySelector(".plot");
        for (const [event, name] of [["mouseenter", group(trace)], ["focus", group(trace)], ["mouseleave", null], ["blur", null]]) {
          button.addEventListener(event, () => highlight(plot, name));
        }
        button.addEventListener("click", () => {
          const shown = state.hidden.delete(group(trace));
          if (!shown) state.hidden.add(group(trace));
          button.setAttribute("aria-pressed", String(shown));
          redraw();
        });
        return button;
      }));
    };
    fill();
    place.append(row);
    return fill;
  }

  const AXIS = "benchfw axis";
  const remembered = () => { try { return localStorage.getItem(AXIS); } catch { return null; } };
  const remember = (axis) => { try { localStorage.setItem(AXIS, axis); } catch { /* a page from disk may have none */ } };

  function startState(figure) {
    const wanted = figure.views.findIndex((view) => view.axis && view.axis === remembered());
    const view = figure.views[Math.max(wanted, 0)];
    const state = { view: Math.max(wanted, 0), hidden: new Set() };
    for (const name of figure.controls) {
      if (name === "log x") state[name] = view.layout.xaxis.type === "log";
      if (name === "log y") state[name] = view.layout.yaxis.type === "log";
      if (name === "bands") state[name] = view.data.some((trace) => trace.meta && trace.meta.part === "band" && trace.visible !== false);
    }
    return state;
  }

  function addControls(element, figure, state, redraw) {
    const place = element.querySelector(".controls");
    let refill = () => {};
    if (figure.views.length > 1) {
      const choices = document.createElement("span");
      choices.className = "switch";
      choices.setAttribute("role", "group");
      choices.setAttribute("aria-label", "View");
      figure.views.forEach((view, number) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = view.label;
        button.setAttribute("aria-pressed", String(number === state.view));
        button.addEventListener("click", () => {
          state.view = number;
          if (view.axis) remember(view.axis);
          for (const other of choices.children) other.setAttribute("aria-pressed", String(other === button));
          refill();
          redraw();
        });
        choices.append(button);
      });
      place.append(choices);
    }
    for (const name of figure.controls) {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = state[name];
      box.addEventListener("change", () => { state[name] = box.checked; redraw(); });
      label.append(box, name);
      place.append(label);
    }
    refill = addNames(place, element, figure, state, redraw);
    const save = document.createElement("button");
    save.type = "button";
    save.textContent = "SVG";
    save.setAttribute("aria-label", `Download ${figure.title} as SVG`);
    save.addEventListener("click", () => {
      const plot = element.querySelector(".plot");
      const filename = `${figure.title} ${figure.views[state.view].label}`.trim().replace(/[^\w-]+/g, "-");
      Plotly.downloadImage(plot, { format: "svg", filename, width: plot.clientWidth, height: plot.clientHeight });
    });
    element.querySelector(".title").append(save);
  }

  const drawn = new Map();
  function show(element) {
    if (drawn.has(element)) return;
    const figure = figures[Number(element.dataset.figure)];
    const state = startState(figure);
    const redraw = () => draw(element, figure, state);
    drawn.set(element, redraw);
    addControls(element, figure, state, redraw);
    redraw();
    if (drawn.size === 1) performance.mark("first figure");
  }
  // the first at once, while the rest of the page is still read; the others when a reader comes near them, or prints
  // the page
  show(document.querySelector("figure[data-figure]"));
  if (document.readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done));
  const all = [...document.querySelectorAll("figure[data-figure]")];
  const data = document.getElementById("figure-data");
  figures.push(...(data.type === "application/json" ? JSON.parse(data.textContent) : await inflate(data.textContent)));
  const near = new IntersectionObserver((seen) => {
    seen.filter((each) => each.isIntersecting).forEach((each) => { near.unobserve(each.target); show(each.target); });
  }, { rootMargin: "800px" });
  all.forEach((element) => near.observe(element));
  window.addEventListener("beforeprint", () => all.filter((element) => !element.hidden).forEach(show));

  const again = () => drawn.forEach((redraw, element) => { if (!element.hidden) redraw(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.matchMedia("(max-width: 699px)").addEventListener("change", again);

  // the table of contents follows the reader
  const links = new Map([...document.querySelectorAll(".toc a")].map((link) => [link.hash.slice(1), link]));
  const places = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  function follow() {
    const passed = places.filter((each) => !each.hidden && each.getBoundingClientRect().top < 120);
    const here = passed.length ? passed.at(-1).id : places[0].id;
    for (const [id, link] of links) id === here ? link.setAttribute("aria-current", "location") : link.removeAttribute("aria-current");
  }
  if (places.length) { follow(); window.addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true }); }

  for (const select of document.querySelectorAll("select[data-choice]")) {
    select.addEventListener("change", () => {
      chosen[select.dataset.choice] = select.value;
      const apart = (value, wanted) => Boolean(wanted) && value !== undefined && value !== wanted;
      for (const element of document.querySelectorAll("[data-problem], [data-backend]")) {
        const { problem, backend } = element.dataset;
        element.hidden = apart(problem, chosen.problem) || apart(backend, chosen.backend);
      }
      again();
    });
  }
})();
