// Opens citations in the sources panel, shows hover cards, keeps copied text clean. Loaded once, in the page's head.
// All listeners sit on the document, because Gradio replaces the nodes below it while an answer streams.
(() => {
  "use strict";
  if (window.citewise) return;

  const CHIP = 'a[href^="#cite-"]';
  const cards = new Map(); // href -> promise of {card, hover}
  let ask = null; // asks the server for the source behind a citation
  let opener = null; // the citation that gets the focus back
  let hoverTimer = 0;

  window.citewise = {
    connect(server) { ask = server; },
    here: () => ({}), // which conversation is shown
    escape: [], // what Escape closes, first one first: functions that return whether they closed something
  };

  const panel = () => document.querySelector("#sources section");

  function request(chip) {
    const href = chip.getAttribute("href");
    const number = /^\d+$/.test(chip.textContent) ? Number(chip.textContent) : null;
    if (!ask) return Promise.resolve({});
    const key = `${number} ${href}`;
    if (!cards.has(key)) cards.set(key, ask({ href, number, ...window.citewise.here() }));
    return cards.get(key);
  }

  function openSheet() {
    document.documentElement.classList.add("sources-open");
  }

  function unmark() {
    document.querySelectorAll("#chat .shown").forEach((chip) => chip.classList.remove("shown"));
    document.querySelectorAll("#sources .list [hidden]").forEach((listed) => { listed.hidden = false; });
  }

  function close() {
    document.documentElement.classList.remove("sources-open");
    panel()?.querySelector(".detail").replaceChildren();
    unmark();
    if (opener?.isConnected) opener.focus();
    opener = null;
  }

  async function open(chip) {
    hideHover();
    const { card } = await request(chip);
    const section = panel();
    if (!card || !section) return;
    unmark();
    chip.classList.add("shown");
    if (!section.contains(chip)) opener = chip;
    const detail = section.querySelector(".detail");
    detail.innerHTML = card; // made and escaped by ui.panel
    openSheet();
    section.scrollTo({ top: 0, behavior: "instant" });
    const article = detail.firstElementChild;
    section.querySelectorAll(".list .source").forEach((listed) => {
      listed.hidden = listed.dataset.paper === article.dataset.paper;
    });
    article.focus({ preventScroll: true });
    scrollToEvidence(section, article);
  }

  function scrollToEvidence(section, article) {
    const mark = article.querySelector("mark");
    if (!mark) return;
    const hidden = mark.getBoundingClientRect().bottom - section.getBoundingClientRect().bottom;
    if (hidden > 0) section.scrollTo({ top: hidden + 24, behavior: "instant" });
  }

  // The hover card, where there is a pointer that hovers.
  const hover = document.createElement("div");
  hover.id = "hover-card";
  hover.setAttribute("role", "tooltip");
  hover.hidden = true;

  function hideHover() {
    clearTimeout(hoverTimer);
    hover.hidden = true;
    document.querySelector('[aria-describedby="hover-card"]')?.removeAttribute("aria-describedby");
  }

  async function showHover(chip) {
    const { hover: content } = await request(chip);
    if (!content || !chip.isConnected || !chip.matches(":hover, :focus-visible")) return;
    hover.innerHTML = content; // made and escaped by ui.panel
    if (!hover.isConnected) document.querySelector("main").append(hover);
    hover.hidden = false;
    chip.setAttribute("aria-describedby", "hover-card");
    const at = chip.getBoundingClientRect();
    const width = hover.offsetWidth;
    const below = at.bottom + hover.offsetHeight + 16 < innerHeight;
    hover.style.left = `${Math.max(8, Math.min(at.left - 24, innerWidth - width - 8))}px`;
    hover.style.top = `${below ? at.bottom + 8 : Math.max(8, at.top - hover.offsetHeight - 8)}px`;
  }

  const chipOf = (event) => (event.target instanceof Element ? event.target.closest(CHIP) : null);

  function approach(event) {
    const chip = chipOf(event);
    if (!chip) return;
    if (chip.title) { // the card takes the place of the browser's own tooltip; the words stay for screen readers
      chip.setAttribute("aria-label", chip.title);
      chip.removeAttribute("title");
    }
    if (event.type === "mouseover" && !matchMedia("(hover: hover)").matches) return;
    if (event.type === "focusin" && !chip.matches(":focus-visible")) return;
    if (!chip.closest("#chat")) return;
    clearTimeout(hoverTimer);
    hoverTimer = setTimeout(() => showHover(chip), 150);
  }

  document.addEventListener("mouseover", approach);
  document.addEventListener("focusin", approach);
  document.addEventListener("mouseout", (event) => { if (chipOf(event)) hideHover(); });
  document.addEventListener("focusout", (event) => { if (chipOf(event)) hideHover(); });
  document.addEventListener("scroll", hideHover, { capture: true, passive: true });

  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"], #sources .close') : null;
    if (!link) return;
    const href = link.getAttribute("href");
    if (link.matches("#sources .close")) close();
    else if (href.startsWith("#cite-")) open(link);
    else if (href === "#sources") { opener = link; openSheet(); panel()?.focus({ preventScroll: true }); }
    else if (href === "#retry") [...document.querySelectorAll('#chat button[aria-label="Retry"]')].pop()?.click();
    else return;
    event.preventDefault();
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.matches("input, textarea, [contenteditable=true]");
    if (event.key === "Escape") {
      hideHover();
      if (window.citewise.escape.some((close) => close())) return;
      if (opener || document.documentElement.classList.contains("sources-open")) close();
    } else if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      document.querySelector("#ask textarea")?.focus();
      event.preventDefault();
    }
  });

  // The Markdown that the chat copies, as plain text: [1] for a citation, $ around maths, no entities.
  function plain(markdown) {
    const decoded = document.createElement("textarea");
    decoded.innerHTML = markdown
      .replace(/\[(\d+)\]\(#cite-[^\s)]*(?: "[^"]*")?\)/g, " [$1]")
      .replace(/\[([^\]]*)\]\(#[^)]*\)/g, "$1")
      .replace(/<br>/g, "\n")
      .replace(/<\/?(?:strong|em|code|div|span|a)\b[^>]*>/g, "")
      .replace(/[\ue000-\ue003]/g, "$");
    return decoded.value;
  }

  const clipboard = navigator.clipboard;
  if (clipboard) {
    const write = clipboard.writeText.bind(clipboard);
    clipboard.writeText = (text) => write(plain(text));
  }

  // A question is edited as it was typed, not as its escaped Markdown.
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLTextAreaElement) || !target.closest("#chat") || target.dataset.decoded) return;
    target.dataset.decoded = "yes";
    const typed = plain(target.value);
    if (typed === target.value) return;
    target.value = typed;
    target.dispatchEvent(new Event("input", { bubbles: true }));
  });

  // What Gradio leaves without a name gets one. The status line announces what happened: the chat is not read out word
  // by word, nor is its Markdown its label.
  const NAMES = [
    ["#ask .submit-button", "Ask"], ["#ask .stop-button", "Stop"],
    ["#settings", "Settings"], ["#filters", "Filters"],
  ];

  function describe() {
    for (const [selector, name] of NAMES) { // set only once: the observer that calls this sees the label change
      document.querySelector(`${selector}:not([aria-label])`)?.setAttribute("aria-label", name);
    }
    document.querySelectorAll("#settings:not([role]), #filters:not([role])").forEach((part) => part.setAttribute("role", "group"));
    document.querySelectorAll('#chat [aria-live="polite"]').forEach((log) => log.setAttribute("aria-live", "off"));
    for (const [role, label] of [["user", "Question"], ["bot", "Answer"]]) {
      document.querySelectorAll(`#chat [data-testid="${role}"][aria-label*="message: "]`)
        .forEach((message) => message.setAttribute("aria-label", label));
    }
  }

  new MutationObserver(() => {
    describe();
    scrollToQuestion();
  }).observe(document.documentElement, {
    childList: true, subtree: true, attributes: true, attributeFilter: ["aria-label"],
  });

  // A new question comes to the top of the chat once; after that the reader decides what is in view.
  let questions = 0;
  function scrollToQuestion() {
    const asked = document.querySelectorAll('#chat [data-testid="user"]');
    if (asked.length > questions) asked[asked.length - 1].scrollIntoView({ block: "start", behavior: "instant" });
    questions = asked.length;
  }
})();
