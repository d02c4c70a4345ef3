// The SharedWorker of all tabs: it holds the stream for as long as a tab follows.
import { EventFeed } from "./event-feed.js";

const ports = new Set();
let feed;

globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => (data === "open" ? follow(port) : leave(port));
};

function follow(port) {
  ports.add(port);
  if (feed) {
    port.postMessage({ kind: "state", value: feed.state });
    return;
  }
  feed = new EventFeed((message) => { for (const other of ports) other.postMessage(message); });
  feed.open();
}

function leave(port) {
  ports.delete(port);
  if (ports.size) return;
  feed?.close();
  feed = undefined;
}
