"use strict";

/** Copies a text, and says so on the button for a moment. */
async function copy(button, text) {
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "The browser does not allow that";
  }
  setTimeout(() => (button.textContent = words), 1500);
}

/** The bytes of the module, which the page has packed and as text. */
async function moduleBytes() {
  const packed = Uint8Array.from(atob(at("module").textContent), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** A trace is chosen, or dropped anywhere on the page. */
function acceptFiles(playground) {
  const take = (files) => files.length && playground.replay(files[0]);
  at("trace").addEventListener("change", ({ target }) => take(target.files));
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropped");
  });
  document.addEventListener("dragleave", () => document.body.classList.remove("dropped"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropped");
    take(event.dataTransfer.files);
  });
}

async function begin() {
  const code = new Blob([at("worker").textContent], { type: "text/javascript" });
  const playground = new Playground(new Worker(URL.createObjectURL(code)));
  window.playground = playground;
  for (const button of document.querySelectorAll("[data-copies]")) {
    button.addEventListener("click", () => copy(button, at(button.dataset.copies).textContent));
  }
  at("share").addEventListener("click", () => copy(at("share"), location.href));
  window.addEventListener("hashchange", () => {
    playground.takeAddress();
  });
  acceptFiles(playground);
  const bytes = await moduleBytes();
  playground.tell("engine", { bytes });
}

begin().catch((wrong) => {
  at("wrong").textContent = `The playground cannot begin: ${wrong.message}`;
  at("wrong").hidden = false;
});
