// Shows what has all the words of the search; the address keeps them, so that a search can be sent.
const search = document.getElementById("search");
const entries = [...document.querySelectorAll("[data-words]")];

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of entries) entry.hidden = !words.every((word) => entry.dataset.words.includes(word));
  const cards = entries.filter((entry) => entry.closest(".cards"));
  const left = cards.filter((entry) => !entry.hidden).length;
  document.getElementById("found").textContent = words.length ? `${left} of ${cards.length} suites` : "";
  document.getElementById("none").hidden = left > 0;
  history.replaceState(null, "", words.length ? `#${encodeURIComponent(words.join(" "))}` : location.pathname);
}

try {
  search.value = decodeURIComponent(location.hash.slice(1));
} catch {
  search.value = "";
}
search.addEventListener("input", show);
if (search.value) show();
