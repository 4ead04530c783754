"use strict";

/** The animation of a page of its own: the keys work wherever the focus is. */
async function play() {
  const place = at("animation");
  try {
    const head = JSON.parse(at("head").textContent);
    const animation = await animated(place.dataset.title, head, at("film").textContent);
    place.replaceChildren(animation.element);
    document.addEventListener("keydown", (event) => {
      if (!animation.element.contains(event.target)) animation.key(event);
    });
    window.animation = animation;
  } catch (why) {
    at("wrong").textContent = `The recording cannot be shown: ${why}. A browser of 2023 or later can show it.`;
    at("wrong").hidden = false;
  }
}

play();
