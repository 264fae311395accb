// Labelling of a run's sentences on the Evals tab: what is shown is made and escaped by ui.labelling. Loaded once, in the
// page's head.
(() => {
  "use strict";
  if (window.citewiseLabelling) return;

  let server = null;
  let run = "";
  let who = ""; // who labels, "" for whom the server takes

  const pane = window.citewisePane({
    root: "#evals-label",
    openClass: "labelling-open",
    keys: {
      1: ["say", "supported"], 2: ["say", "partly"], 3: ["say", "unsupported"],
      s: ["skip"], u: ["undo"], backspace: ["undo"],
    },
    ask: ({ action, id, label }) => server.labelling({ run, annotator: who, action, id, label }),
  });

  window.citewiseLabelling = {
    connect(functions, name) {
      server = functions;
      if (run !== name) pane.close(); // the same run once more leaves the reader where they are
      run = name;
      pane.offer(Boolean(run));
    },
  };

  document.addEventListener("change", (event) => { // another person starts where they stopped
    if (!event.target.matches?.('#evals-label [name="annotator"]')) return;
    who = event.target.value;
    pane.act("open");
  });
})();
