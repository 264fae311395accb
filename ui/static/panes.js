// Panes of the Evals tab in which a reader decides on one thing after another: what is shown is made and escaped by
// Python. Loaded once, in the page's head.
(() => {
  "use strict";
  if (window.citewisePane) return;

  // `root` has a button [data-do="open"] and an element .pane; what `ask(action, id, pane, button)` gives is shown in it.
  // A key asks what `keys` says: an action, and the label of the button that stands for it.
  window.citewisePane = ({ root: selector, openClass, keys, ask }) => {
    let isBusy = false;
    const root = () => document.querySelector(selector);
    const pane = () => root()?.querySelector(".pane");
    const isOpen = () => document.documentElement.classList.contains(openClass);

    async function act(action, label = "") {
      if (isBusy || !pane()) return; // a key pressed twice says one thing
      isBusy = true;
      try {
        const id = pane().querySelector("[data-id]")?.dataset.id ?? "";
        const { html, error } = await ask({ action, id, label, pane: pane() });
        if (!pane()) return;
        const told = error && pane().querySelector(".told");
        if (told) {
          told.innerHTML = error; // what the reader has typed stays
          return;
        }
        pane().innerHTML = error || html;
        document.documentElement.classList.add(openClass);
        pane().querySelector(".shown")?.focus({ preventScroll: true });
        document.querySelector("#evals-tab > div")?.scrollTo({ top: 0, behavior: "instant" });
      } finally {
        isBusy = false;
      }
    }

    function close() {
      if (!isOpen()) return false;
      document.documentElement.classList.remove(openClass);
      pane()?.replaceChildren();
      root()?.querySelector('[data-do="open"]')?.focus();
      return true;
    }

    window.citewise.escape.push(() => Boolean(pane()?.offsetParent) && close());

    document.addEventListener("click", (event) => {
      const button = event.target instanceof Element ? event.target.closest(`${selector} [data-do]`) : null;
      if (!button) return;
      if (button.dataset.do === "close") close();
      else act(button.dataset.do, button.dataset.label);
    });

    document.addEventListener("keydown", (event) => { // keys count only while the focus is in the pane
      const inside = event.target instanceof Element && event.target.closest(`${selector} .pane`);
      if (!inside || event.target.matches("input, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
      const asked = keys[event.key.toLowerCase()];
      if (!asked) return;
      act(...asked);
      event.preventDefault();
    });

    return { act, close, offer: (isOffered) => {
      const button = root()?.querySelector('[data-do="open"]');
      if (button) button.hidden = !isOffered;
    } };
  };
})();
