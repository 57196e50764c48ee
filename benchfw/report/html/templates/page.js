"use strict";
(async () => {
  // a large page has them compressed
  const data = document.getElementById("figure-data");
  const figures = data.type === "application/json" ? JSON.parse(data.textContent) : await inflate(data.textContent);

  function inflate(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  const narrow = () => window.innerWidth < 700;
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // how many rows names take below a figure: a line of 44 pixels before each, letters of 7
  function legendRows(names) {
    const width = window.innerWidth - 90;
    let rows = 1, used = 0;
    for (const name of names) {
      const needed = 44 + 7 * name.length;
      if (used && used + needed > width) { rows += 1; used = 0; }
      used += needed;
    }
    return rows;
  }

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
    const names = view.data.filter((trace) => trace.name && trace.showlegend !== false).map((trace) => trace.name);
    layout.legend = { font: { size: 12 }, tracegroupgap: 0, ...(layout.legend || {}) };
    if (narrow() && names.length) {
      const room = Math.min(24 + 20 * legendRows(names), 240);
      layout.height += room;
      Object.assign(layout.legend, { orientation: "h", x: 0, xanchor: "left", yref: "container", y: 0, yanchor: "bottom", maxheight: room });
      layout.margin.b += room;
    }
    for (const [name, key] of [["log x", "xaxis"], ["log y", "yaxis"]]) {
      if (!(name in state)) continue;
      const type = state[name] ? "log" : "linear";
      if ((layout[key].type || "linear") !== type) { layout[key].type = type; delete layout[key].range; }
    }
    // more ticks than these, and the digits between powers of ten run into each other
    for (const key of ["xaxis", "yaxis"]) if (layout[key].type === "log") layout[key].nticks = 5;
    return layout;
  }

  const chosen = { problem: "", backend: "" };

  function traces(view, state) {
    const about = (trace) => trace.meta || {};
    return view.data
      .filter((trace) => !chosen.backend || !about(trace).backend || about(trace).backend === chosen.backend)
      .filter((trace) => about(trace).part !== "band" || state.bands)
      .map((trace) => (about(trace).part === "band" ? { ...trace, visible: true } : trace));
  }

  function draw(element, figure, state) {
    const view = figure.views[state.view];
    const settings = {
      displaylogo: false, responsive: true, modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "toImage"],
      displayModeBar: narrow() ? false : undefined,
    };
    return Plotly.react(element.querySelector(".plot"), traces(view, state), frame(view, figure, state), settings);
  }

  function startState(figure) {
    const view = figure.views[0];
    const state = { view: 0 };
    for (const name of figure.controls) {
      if (name === "log x") state[name] = view.layout.xaxis.type === "log";
      if (name === "log y") state[name] = view.layout.yaxis.type === "log";
      if (name === "bands") state[name] = view.data.some((trace) => trace.meta && trace.meta.part === "band" && trace.visible !== false);
    }
    return state;
  }

  function addControls(element, figure, state, redraw) {
    const place = element.querySelector(".controls");
    if (figure.views.length > 1) {
      const group = document.createElement("span");
      group.className = "switch";
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", "View");
      figure.views.forEach((view, number) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = view.label;
        button.setAttribute("aria-pressed", String(number === state.view));
        button.addEventListener("click", () => {
          state.view = number;
          for (const other of group.children) other.setAttribute("aria-pressed", String(other === button));
          redraw();
        });
        group.append(button);
      });
      place.append(group);
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
  const all = [...document.querySelectorAll("figure[data-figure]")];
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
  // the first at once; the others when a reader comes near them, or prints the page
  show(all[0]);
  const near = new IntersectionObserver((seen) => {
    seen.filter((each) => each.isIntersecting).forEach((each) => { near.unobserve(each.target); show(each.target); });
  }, { rootMargin: "800px" });
  all.forEach((element) => near.observe(element));
  window.addEventListener("beforeprint", () => all.filter((element) => !element.hidden).forEach(show));

  const again = () => drawn.forEach((redraw, element) => { if (!element.hidden) redraw(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.matchMedia("(max-width: 699px)").addEventListener("change", again);

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
