// Drawers and menus around the chat: conversations, filters, settings, export, shortcuts, suggestions, chips.
(() => {
  "use strict";
  const citewise = window.citewise;
  if (citewise.toggle) return;

  const root = document.documentElement;
  const PARTS = { history: "#history section", settings: "#settings", filters: "#filters" };
  const openers = new Map(); // part -> what gets the focus back
  const handlers = { ask: null, drop: null };
  let settingsServer = null;

  const part = (name) => document.querySelector(PARTS[name]);
  const isOpen = (name) => root.classList.contains(`${name}-open`);

  function mark(name) {
    document.querySelectorAll(`[data-toggle="${name}"]`)
      .forEach((button) => button.setAttribute("aria-expanded", String(isOpen(name))));
  }

  function close(name, { focus = true } = {}) {
    if (!isOpen(name)) return false;
    root.classList.remove(`${name}-open`);
    mark(name);
    if (focus) openers.get(name)?.focus();
    openers.delete(name);
    return true;
  }

  function toggle(name, opener = null) {
    if (close(name)) return;
    for (const other of ["history", "settings"]) if (other !== name && name !== "filters") close(other, { focus: false });
    document.querySelector('#tabs [role="tab"]:not(.selected)#ask-tab-button')?.click();
    root.classList.add(`${name}-open`);
    openers.set(name, opener);
    mark(name);
    if (name === "history") citewise.refreshHistory();
    if (name === "settings") listModels();
    part(name)?.querySelector('input, textarea, button:not(.close)')?.focus({ preventScroll: true });
  }

  Object.assign(citewise, {
    toggle,
    close,
    onAsk(handler) { handlers.ask = handler; },
    onDrop(handler) { handlers.drop = handler; },
    settings(server) { settingsServer = server; },
  });

  async function listModels() {
    const input = document.querySelector("#model input, #model textarea");
    if (!input || !settingsServer || document.getElementById("models")) return;
    const names = await settingsServer.models({});
    const list = document.createElement("datalist");
    list.id = "models";
    list.append(...names.map((name) => Object.assign(document.createElement("option"), { value: name })));
    document.body.append(list);
    input.setAttribute("list", "models");
  }

  // The shortcuts, in a dialog that the browser itself makes modal.
  const SHORTCUTS = [
    ["/", "Go to the question box"], ["Enter", "Ask; open a citation"], ["Shift Enter", "A new line"],
    ["Tab", "To the next citation or button"], ["Esc", "Close what is open, and go back to where you were"],
    ["?", "These shortcuts"],
  ];

  function showShortcuts() {
    let dialog = document.getElementById("shortcuts");
    if (!dialog) {
      dialog = document.createElement("dialog");
      dialog.id = "shortcuts";
      dialog.setAttribute("aria-labelledby", "shortcuts-title");
      dialog.innerHTML = '<h2 id="shortcuts-title">Keyboard</h2><dl>' + SHORTCUTS.map(([keys, does]) =>
        `<div><dt>${keys.split(" ").map((key) => `<kbd>${key}</kbd>`).join(" ")}</dt><dd>${does}</dd></div>`).join("") +
        '</dl><form method="dialog"><button>Close</button></form>';
      document.body.append(dialog);
    }
    if (!dialog.open) dialog.showModal();
  }

  function download({ name, type, text }) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  async function exportAs(button) {
    const file = await citewise.take({ form: button.dataset.export, part: button.dataset.part, ...citewise.here() });
    const menu = button.closest("details");
    if (file?.text !== undefined) download(file);
    menu.open = false;
    menu.querySelector("summary").focus();
  }

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const button = target?.closest("button, summary");
    const menu = document.querySelector("#tools details.export[open]");
    if (menu && !menu.contains(target)) menu.open = false;
    if (!button) return;
    const { toggle: name, show, export: form, ask, drop } = button.dataset;
    if (name) toggle(name, button);
    else if (show === "shortcuts") showShortcuts();
    else if (form) exportAs(button);
    else if (ask !== undefined) { handlers.ask?.(ask); focusBox(); }
    else if (drop) { handlers.drop?.(drop); focusBox(); }
    else if (button.matches("#history .close")) close("history");
    else if (button.matches("#settings .close")) close("settings");
  });

  function focusBox() {
    if (matchMedia("(hover: hover)").matches) document.querySelector("#ask textarea")?.focus(); // no keyboard on a phone
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.matches("input, textarea, [contenteditable=true]");
    if (event.key === "?" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      showShortcuts();
      event.preventDefault();
    }
  });

  citewise.escape.push(
    () => Boolean(document.querySelector("dialog[open]")), // which the browser closes
    () => {
      const menu = document.querySelector("#tools details.export[open]");
      if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
      return Boolean(menu);
    },
    () => ["settings", "history", "filters"].some((name) => close(name)),
  );
})();
