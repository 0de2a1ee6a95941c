// Pages that are opened from the disk may not start a worker: there the search runs in a hidden frame in its place.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      const page = this.inside.document;
      page.open(); // otherwise some browsers put an empty page in its place later
      page.write("<!doctype html><body></body>");
      page.close();
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = page.createElement("script");
      this.loaded = new Promise((done) => script.addEventListener("load", done));
      script.src = address;
      page.body.append(script);
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })));
    }
  };
}
