// Reviewing drafts of cases on the Evals tab: what is shown is made and escaped by ui.reviewing. Loaded once, in the
// page's head.
(() => {
  "use strict";
  if (window.citewiseReviewing) return;

  let server = null;
  let suite = "";

  const typed = (pane) =>
    Object.fromEntries([...pane.querySelectorAll("[data-field]")].map((field) => [`field:${field.dataset.field}`, field.value]));

  const pane = window.citewisePane({
    root: "#evals-drafts",
    openClass: "reviewing-open",
    keys: { a: ["accept"], r: ["reject"], s: ["skip"], u: ["undo"], backspace: ["undo"] },
    ask: ({ action, id, pane }) => server.reviewing({ suite, action, id, ...(action === "accept" ? typed(pane) : {}) }),
  });

  window.citewiseReviewing = {
    connect(functions, name) {
      server = functions;
      if (suite !== name) pane.close(); // the same suite once more leaves the reader where they are
      suite = name;
      pane.offer(Boolean(suite));
    },
  };
})();
