// Labelling of a run's sentences on the Evals tab: what is shown is made and escaped by ui.labelling. Loaded once, in the
// page's head.
(() => {
  "use strict";
  if (window.citewiseLabelling) return;

  const KEYS = { 1: "supported", 2: "partly", 3: "unsupported" };
  let server = null;
  let run = "";
  let who = ""; // who labels, "" for whom the server takes
  let isBusy = false;

  const root = () => document.querySelector("#evals-label");
  const pane = () => root()?.querySelector(".labelling");
  const isOpen = () => document.documentElement.classList.contains("labelling-open");

  async function ask(action, label = "") {
    if (isBusy || !pane()) return; // a key pressed twice says one thing
    isBusy = true;
    try {
      const id = pane().querySelector("[data-id]")?.dataset.id ?? "";
      const { html } = await server.labelling({ run, annotator: who, action, id, label });
      if (!pane()) return;
      pane().innerHTML = html;
      document.documentElement.classList.add("labelling-open");
      pane().querySelector(".claim")?.focus({ preventScroll: true });
      document.querySelector("#evals-tab > div")?.scrollTo({ top: 0, behavior: "instant" });
    } finally {
      isBusy = false;
    }
  }

  function close() {
    if (!isOpen()) return false;
    document.documentElement.classList.remove("labelling-open");
    pane()?.replaceChildren();
    root()?.querySelector('[data-labels="open"]')?.focus();
    return true;
  }

  window.citewiseLabelling = {
    connect(functions, name) {
      server = functions;
      if (run !== name) close(); // the same run once more leaves the reader where they are
      run = name;
      const button = root()?.querySelector('[data-labels="open"]');
      if (button) button.hidden = !run;
    },
  };
  window.citewise.escape.push(() => Boolean(pane()?.offsetParent) && close());

  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("#evals-label [data-labels]") : null;
    if (!button) return;
    const { labels: action, label } = button.dataset;
    if (action === "close") close();
    else ask(action, label);
  });

  document.addEventListener("change", (event) => { // another person starts where they stopped
    if (!event.target.matches?.('#evals-label [name="annotator"]')) return;
    who = event.target.value;
    ask("open");
  });

  document.addEventListener("keydown", (event) => { // keys count only while the focus is in the labelling
    const inside = event.target instanceof Element && event.target.closest("#evals-label .labelling");
    if (!inside || event.target.matches("input") || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (KEYS[key]) ask("say", KEYS[key]);
    else if (key === "s") ask("skip");
    else if (key === "u" || key === "backspace") ask("undo");
    else return;
    event.preventDefault();
  });
})();
