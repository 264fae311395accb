// The conversations: their list, their address, and, where the server keeps none, this browser's own store.
(() => {
  "use strict";
  const citewise = window.citewise;
  if (citewise.history) return;

  const PREFIX = "citewise:conversation:";
  let drawer = null, server = null, open = null;
  let keptHere = false; // whether the browser keeps them
  let place = ""; // as the server wrote it
  let local = null; // the id of the conversation that this browser keeps
  let undoable = null; // the conversation that was deleted last
  let searching = 0;

  const read = (id) => { try { return JSON.parse(localStorage.getItem(PREFIX + id)); } catch { return null; } };
  const ids = () => Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
  const latestFirst = () => ids().map((id) => [id, read(id)]).filter(([, kept]) => kept)
    .sort(([, one], [, other]) => other.updated - one.updated);

  function write(id, kept) {
    for (;;) {
      try { localStorage.setItem(PREFIX + id, JSON.stringify(kept)); return; } catch {
        const oldest = latestFirst().map(([other]) => other).filter((other) => other !== id).pop();
        if (!oldest) return; // one conversation larger than the store: it stays until the page is left
        localStorage.removeItem(PREFIX + oldest);
      }
    }
  }

  const current = () => (keptHere ? local : parsed().conversation) || "";
  const parsed = () => { try { return JSON.parse(place); } catch { return { conversation: "", turns: [] }; } };
  citewise.here = () => (keptHere ? { place, turns: read(local)?.turns ?? [] } : { place });
  citewise.take = (request) => server?.take(request);

  function address() {
    const url = new URL(location.href);
    if (url.searchParams.get("c") === current() && !url.searchParams.has("q")) return;
    url.search = current() ? `?c=${encodeURIComponent(current())}` : "";
    history.replaceState(history.state, "", url);
  }

  citewise.placed = (value) => {
    place = value;
    if (keptHere && local) {
      const kept = read(local), turns = parsed().turns.length;
      if (kept && !turns) { localStorage.removeItem(PREFIX + local); local = null; } // its first question was taken back
      else if (kept && kept.turns.length > turns) write(local, { ...kept, turns: kept.turns.slice(0, turns) });
    }
    address();
    citewise.refreshHistory();
  };

  citewise.keep = (turn) => {
    if (!keptHere || !turn) return;
    const { title, turn: number, answer } = JSON.parse(turn);
    local ??= crypto.getRandomValues(new Uint32Array(4)).join("-");
    const kept = read(local) ?? { title, turns: [] };
    write(local, { ...kept, updated: Date.now(), turns: [...kept.turns.slice(0, number), answer] });
    address();
    citewise.refreshHistory();
  };

  citewise.history = (element, functions, opened, browserKeeps) => {
    drawer = element; server = functions; open = opened; keptHere = browserKeeps;
    const asked = new URL(location.href).searchParams.get("c");
    if (keptHere && asked && read(asked)) show(asked);
    citewise.refreshHistory();
  };

  async function stopAnswer() { // it would go on in whatever conversation is shown
    const stop = () => document.querySelector("#ask .stop-button");
    stop()?.click();
    for (let looks = 0; stop() && looks < 100; looks += 1) await new Promise((look) => setTimeout(look, 50));
  }

  async function show(id) {
    await stopAnswer();
    local = keptHere ? id || null : null;
    open(keptHere ? { id, turns: read(id)?.turns ?? [] } : { id });
    if (matchMedia("(max-width: 1499px)").matches) citewise.close("history", { focus: false });
    document.querySelector("#ask textarea")?.focus();
  }

  const list = () => drawer?.querySelector(".list");
  const query = () => drawer?.querySelector("input")?.value.trim() ?? "";

  function headings() {
    const wanted = query().toLowerCase();
    return latestFirst().filter(([, kept]) => !wanted || JSON.stringify([kept.title, kept.turns.map((turn) =>
      [turn.question, turn.answer])]).toLowerCase().includes(wanted)).map(([id, kept]) => ({ id, title: kept.title }));
  }

  citewise.refreshHistory = async () => {
    if (!server || !list()?.checkVisibility()) return;
    const asked = ++searching;
    const { html } = await server.conversations(keptHere ? { query: query(), headings: headings() } : { query: query() });
    if (asked !== searching || list().querySelector("li input")) return; // another search, or a name being written
    const focused = list().contains(document.activeElement) ? document.activeElement : null;
    const id = focused?.closest("li")?.dataset.id, kind = focused?.classList[0];
    list().innerHTML = html; // made and escaped by ui.history
    list().querySelectorAll("li").forEach((item) => {
      if (item.dataset.id === current()) item.querySelector(".open").setAttribute("aria-current", "true");
    });
    offerUndo();
    if (kind) list().querySelector(`${id ? `li[data-id="${CSS.escape(id)}"] ` : ""}.${CSS.escape(kind)}`)?.focus();
  };

  function offerUndo() {
    if (!undoable) return;
    const row = document.createElement("p");
    row.className = "undo";
    row.setAttribute("role", "status");
    row.append(`Deleted “${undoable.title}”. `);
    row.append(Object.assign(document.createElement("button"), { type: "button", className: "restore", textContent: "Undo" }));
    list().prepend(row);
  }

  async function change(request, kept) {
    if (!keptHere) await server.change(request);
    else if (request.do === "rename") write(request.id, { ...read(request.id), title: request.title });
    else if (request.do === "delete") localStorage.removeItem(PREFIX + request.id);
    else write(request.id, kept);
    await citewise.refreshHistory();
  }

  async function remove(item) {
    const id = item.dataset.id, next = item.nextElementSibling ?? item.previousElementSibling;
    undoable = { id, title: item.querySelector(".open").textContent, kept: keptHere ? read(id) : null };
    const after = next?.dataset.id;
    await change({ do: "delete", id });
    if (id === current()) await show("");
    (list().querySelector(".restore") ?? list().querySelector(`li[data-id="${CSS.escape(after ?? "")}"] .open`))?.focus();
  }

  function rename(item) {
    const button = item.querySelector(".open");
    const input = Object.assign(document.createElement("input"), { value: button.textContent, maxLength: 120 });
    input.setAttribute("aria-label", "New name");
    button.replaceWith(input);
    input.focus();
    input.select();
    let done = false;
    const end = async (keep) => {
      if (done) return;
      done = true;
      const title = input.value.trim();
      input.replaceWith(button);
      if (keep && title && title !== button.textContent) await change({ do: "rename", id: item.dataset.id, title });
      list().querySelector(`li[data-id="${CSS.escape(item.dataset.id)}"] .open`)?.focus();
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") { event.stopPropagation(); end(event.key === "Enter"); }
    });
    input.addEventListener("blur", () => end(true));
  }

  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("#history button") : null;
    const item = button?.closest("li");
    if (!button) return;
    if (button.matches(".new")) show("");
    else if (button.matches(".open")) show(item.dataset.id);
    else if (button.matches(".rename")) rename(item);
    else if (button.matches(".delete")) remove(item);
    else if (button.matches(".restore")) {
      const { id, kept } = undoable;
      undoable = null;
      change({ do: "restore", id }, kept);
    }
  });

  document.addEventListener("input", (event) => {
    if (!(event.target instanceof Element) || !event.target.matches("#history input[type=search]")) return;
    clearTimeout(citewise.searchTimer);
    citewise.searchTimer = setTimeout(citewise.refreshHistory, 150);
  });
})();
