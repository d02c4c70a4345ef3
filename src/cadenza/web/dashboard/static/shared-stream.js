// One event stream for all tabs of a browser, which allows six connections to a host over HTTP/1.1.
// A SharedWorker holds it; where there is none, the tab that holds a lock does, and tells the others.
import { EventFeed } from "./event-feed.js";

/** Gives back something to close. `onState` hears live or cut, `onNews` each summary. */
export function connect({ onState, onNews }) {
  const hear = ({ kind, value }) => (kind === "state" ? onState(value) : onNews(value));
  return globalThis.SharedWorker ? overWorker(hear) : overLeader(hear);
}

function overWorker(hear) {
  const worker = new SharedWorker(new URL("./stream-worker.js", import.meta.url), { type: "module", name: "cadenza" });
  worker.port.onmessage = (event) => hear(event.data);
  worker.port.postMessage("open");
  const leave = () => worker.port.postMessage("close");
  addEventListener("pagehide", leave);
  return { close() { removeEventListener("pagehide", leave); leave(); worker.port.close(); } };
}

function overLeader(hear) {
  const channel = new BroadcastChannel("cadenza");
  const leaving = new AbortController();
  let feed;
  channel.onmessage = (event) => hear(event.data);
  const lead = () => new Promise((resolve) => {
    feed = new EventFeed((message) => { hear(message); channel.postMessage(message); });
    feed.open();
    leaving.signal.addEventListener("abort", () => { feed.close(); resolve(); });
  });
  navigator.locks.request("cadenza-stream", { signal: leaving.signal }, lead).catch(() => {});
  hear({ kind: "state", value: "live" });
  return { close() { leaving.abort(); channel.close(); } };
}
