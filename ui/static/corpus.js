// The Corpus tab: fetches its list and its papers from the server and shows them. What it is sent is made and escaped by
// ui.corpus_page. Loaded once, in the page's head.
(() => {
  "use strict";
  if (window.citewiseCorpus) return;

  let server = null;
  let act = null;
  let form = {}; // what is listed now
  let page = 0;
  let asked = 0; // the number of the latest request: answers to earlier ones are dropped
  let opener = null; // the link that gets the focus back
  let shown = null; // the id of the paper that is open

  const list = () => document.querySelector("#corpus-list .list");
  const pane = () => document.querySelector("#corpus-paper section");
  const phone = () => matchMedia("(max-width: 760px)").matches;

  async function showList({ focus = false } = {}) {
    const number = (asked += 1);
    const { list: content } = await server.listed({ ...form, page });
    if (number !== asked || !list()) return;
    list().innerHTML = content;
    list().scrollTo?.({ top: 0, behavior: "instant" });
    if (focus) list().querySelector("ul.papers a")?.focus();
  }

  async function showFacts() {
    const { form: fields, facts } = await server.opened({});
    const place = document.querySelector("#corpus-list .form");
    const about = document.querySelector("#corpus-facts .facts");
    if (!place || !about) return;
    place.innerHTML = fields;
    for (const [name, value] of Object.entries(form)) {
      if (place.querySelector(`[name="${name}"]`)) place.querySelector(`[name="${name}"]`).value = value;
    }
    about.innerHTML = facts;
    if (phone()) about.querySelector("details")?.removeAttribute("open");
  }

  async function openPaper(id, link) {
    const { paper } = await server.paper({ id });
    const section = pane();
    if (!section) return;
    if (!section.contains(link)) opener = link;
    shown = id;
    section.querySelector(".detail").innerHTML = paper;
    document.documentElement.classList.add("paper-open");
    section.scrollTo({ top: 0, behavior: "instant" });
    document.querySelector("#corpus-side")?.scrollTo({ top: 0, behavior: "instant" });
    (section.querySelector("article") ?? section).focus({ preventScroll: true });
  }

  function closePaper() {
    document.documentElement.classList.remove("paper-open");
    pane()?.querySelector(".detail").replaceChildren();
    shown = null;
    if (opener?.isConnected) opener.focus();
    opener = null;
  }

  function readForm(element) {
    form = Object.fromEntries([...new FormData(element)].filter(([, value]) => value));
    page = 0;
  }

  window.citewiseCorpus = {
    connect(element, functions, actions) {
      server = functions;
      act = actions;
      showList();
      showFacts();
    },
    changed() { // papers came or went
      closePaper();
      showList();
      showFacts();
      document.querySelector("#corpus-report [data-restore]")?.focus();
    },
  };

  document.addEventListener("submit", (event) => {
    if (!event.target.closest("#corpus-list")) return;
    event.preventDefault();
    readForm(event.target);
    showList();
  });

  document.addEventListener("reset", (event) => {
    if (!event.target.closest("#corpus-list")) return;
    form = {};
    page = 0;
    showList();
  });

  document.addEventListener("change", (event) => { // a choice filters at once, typed words on Enter
    const fields = event.target.closest?.("#corpus-list form");
    if (!fields || !event.target.matches("select")) return;
    readForm(fields);
    showList();
  });

  function filterBy(name, value) {
    const fields = document.querySelector("#corpus-list form");
    if (!fields) return;
    const names = name === "year" ? ["first_year", "last_year"] : [name];
    for (const each of names) {
      if (fields.elements[each]) fields.elements[each].value = value;
    }
    readForm(fields);
    showList({ focus: true });
  }

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const link = target?.closest('a[href^="#paper-"]');
    const button = target?.closest("#corpus-tab button");
    if (link) {
      event.preventDefault();
      openPaper(decodeURIComponent(link.getAttribute("href").slice("#paper-".length)), link);
    } else if (!button) {
      return;
    } else if (button.matches("#corpus-paper .close")) {
      closePaper();
    } else if (button.dataset.page !== undefined) {
      page = Number(button.dataset.page);
      showList({ focus: true });
    } else if (button.dataset.filter) {
      filterBy(button.dataset.filter, button.dataset.value);
    } else if (button.dataset.paperAction && shown !== null) {
      act[button.dataset.paperAction](shown);
    } else if (button.dataset.restore) {
      act.restore(button.dataset.restore);
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && shown !== null) closePaper();
  });
})();
