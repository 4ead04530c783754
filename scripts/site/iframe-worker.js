// Search runs in a worker, which browsers refuse to pages that are opened as files. There this
// stands in for it: the worker's script runs in a hidden frame, and messages go between the two.
(() => {
  if (location.protocol !== "file:") return;
  const load = (document, address) =>
    new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = () => failed(new Error("cannot load " + address));
      document.head.append(script);
    });

  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      const page = this.frame.contentDocument;
      const resolved = new URL(address, location.href).href;
      inner.importScripts = (...addresses) =>
        addresses.reduce(
          (before, next) => before.then(() => load(page, new URL(next, resolved).href)),
          Promise.resolve(),
        );
      inner.postMessage = (data) => this.tell(data);
      this.ready = load(page, resolved);
    }

    // As between threads a message is a copy, and comes after what runs now has ended: a field that
    // is drawn again in between would lose what was typed.
    tell(given) {
      const data = structuredClone(given);
      setTimeout(() => {
        const event = new MessageEvent("message", { data });
        if (this.onmessage) this.onmessage(event);
        this.dispatchEvent(event);
      });
    }

    postMessage(given) {
      const inner = this.frame.contentWindow;
      const data = inner.structuredClone(given);
      const dispatch = () => inner.dispatchEvent(new inner.MessageEvent("message", { data }));
      this.ready.then(() => setTimeout(dispatch));
    }

    terminate() {
      this.frame.remove();
    }
  }
  window.Worker = FrameWorker;
})();
