// The stream itself: an EventSource that says how it is, and comes back when it was cut off.
const AGAIN_MS = 5000; // after an answer that ends the stream for good (signed out, too many)

export class EventFeed {
  constructor(tell) {
    this.tell = tell;
    this.state = "cut";
  }

  open() {
    this.source = new EventSource("/live");
    this.source.addEventListener("ready", () => this.say("live"));
    this.source.addEventListener("summary", (event) => this.tell({ kind: "news", value: JSON.parse(event.data) }));
    this.source.addEventListener("error", () => {
      this.say("cut");
      if (this.source.readyState !== EventSource.CLOSED) return; // it tries again by itself
      this.again = setTimeout(() => this.open(), AGAIN_MS);
    });
  }

  say(state) {
    this.state = state;
    this.tell({ kind: "state", value: state });
  }

  close() {
    clearTimeout(this.again);
    this.source?.close();
  }
}
