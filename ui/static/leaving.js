// Tells the server that this tab closes, so that it need not keep its session: a connection that ends says less.
// Loaded once, in the page's head.
addEventListener("pagehide", (event) => {
  if (event.persisted) return; // kept by the browser: it may come back
  for (const { name } of performance.getEntriesByType("resource")) {
    const [, api, session] = /^(.*\/gradio_api\/)queue\/data\?session_hash=(\w+)/.exec(name) ?? [];
    if (!session) continue;
    navigator.sendBeacon(`${api}left/${session}`);
    return;
  }
});
