"use strict";

/** The recording of an example, which is unpacked when a reader opens it. */
function offer(place) {
  const folded = element("details", {}, element("summary", {}, "Play it, event by event"));
  folded.addEventListener("toggle", async () => {
    if (!folded.open || place.dataset.opened) return;
    place.dataset.opened = "true";
    try {
      const animation = await animated("The drive", JSON.parse(place.dataset.head), place.dataset.film);
      animation.element.querySelector("details").open = false;
      folded.append(animation.element);
    } catch (why) {
      folded.append(element("p", {}, `The recording cannot be shown: ${why}. A browser of 2023 or later can show it.`));
    }
  });
  place.append(folded);
}

document.querySelectorAll("div.film").forEach(offer);
