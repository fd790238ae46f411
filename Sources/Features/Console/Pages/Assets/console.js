// Keeps a page that says so up to date: fetches it again and puts its main part in place. Without this script all pages work.
"use strict";

(() => {
  const seconds = Number(document.querySelector("main")?.dataset.live);
  if (!seconds) return;
  const status = document.getElementById("live");
  let failures = 0;

  // Nothing moves under somebody who types, selects, or has opened a menu.
  const isBusy = () => {
    const main = document.querySelector("main");
    const focused = document.activeElement;
    const selection = document.getSelection();
    return main.querySelector("input:checked") !== null
      || (main.contains(focused) && focused !== main && focused.matches("input, select, textarea"))
      || (selection && !selection.isCollapsed && main.contains(selection.anchorNode));
  };

  const focusKey = (element) => element?.id ? `#${CSS.escape(element.id)}`
    : element?.getAttribute?.("href") ? `a[href="${CSS.escape(element.getAttribute("href"))}"]` : null;

  const refresh = async () => {
    const answer = await fetch(location.href, { headers: { "X-Requested-With": "console" }, redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.status === 401) return location.reload();
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [before, after] = [document.querySelector("main"), fresh.querySelector("main")];
    if (!after || isBusy()) return;
    const key = before.contains(document.activeElement) ? focusKey(document.activeElement) : null;
    before.replaceWith(after);
    if (key) document.querySelector(`main ${key}`)?.focus({ preventScroll: true });
    const [oldTime, newTime] = [document.querySelector("footer time"), fresh.querySelector("footer time")];
    if (oldTime && newTime) oldTime.textContent = newTime.textContent;
  };

  const tick = async () => {
    if (!document.hidden && !isBusy()) {
      try {
        await refresh();
        if (failures > 0) status.textContent = "";
        failures = 0;
      } catch (error) {
        failures += 1;
        status.textContent = `This page is not up to date: ${error.message}. It is tried again.`;
      }
    }
    setTimeout(tick, seconds * 1000 * Math.min(1 + failures, 6));
  };
  setTimeout(tick, seconds * 1000);
})();
