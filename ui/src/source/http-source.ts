import { batch, signal } from "@preact/signals";
import type { ObjectDetail, TimelineEntry, Update, WorkloadDetail } from "../../../src/cli/ui/model.ts";
import { applyUpdate, emptyModel } from "./apply-update.ts";
import type { Source, Stream } from "./source.ts";

/** The time until the page opens a stream again that the browser has given up, in milliseconds. */
const reopenMs = 2000;
/** The views show updates at most once in this time, in milliseconds. */
const publishMs = 30;
/** A stream without an update for so long has ended unnoticed, for example while the computer slept: `wave ui` sends one every 15 s. */
const silentMs = 40_000;

/** Returns the source that reads from `wave ui`, below the address of the page. The stream starts at once. */
export function httpSource(base: string): Source {
  const model = signal(emptyModel);
  const stream = signal<Stream>({ state: "connecting", at: null });
  const load = async <Answer>(path: string, query: Readonly<Record<string, string>>): Promise<Answer> => {
    const response = await fetch(new URL(`${path}?${new URLSearchParams(query)}`, base));
    if (response.ok) return (await response.json()) as Answer;
    const { error = `wave ui answered ${response.status}.` } = await response.json().catch(() => ({}));
    throw new Error(error);
  };
  let latest = model.peek();
  let isScheduled = false;
  let state: Stream["state"] = "connecting";
  const receive = (update: Update) => {
    latest = applyUpdate(latest, update);
    state = "live";
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      batch(() => {
        model.value = latest;
        stream.value = { state, at: update.at };
      });
    }, publishMs);
  };
  const open = () => {
    const events = new EventSource(new URL("events", base));
    let silence: ReturnType<typeof setTimeout> | undefined;
    const lose = () => {
      clearTimeout(silence);
      state = "lost";
      stream.value = { ...stream.value, state };
    };
    events.onmessage = ({ data }) => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        lose();
        events.close();
        open();
      }, silentMs);
      receive(JSON.parse(data) as Update);
    };
    events.onerror = () => {
      lose();
      // The browser connects again by itself, except after an answer that is no stream.
      if (events.readyState === EventSource.CLOSED) setTimeout(open, reopenMs);
    };
  };
  open();
  return {
    model,
    stream,
    loadWorkload: (id) => load<WorkloadDetail>("workload", { id }),
    loadObject: (name) => load<ObjectDetail>("object", { ...name }),
    loadTimeline: async (since, namespace) => {
      const query = { since: String(Math.floor(since)), ...(namespace === "" ? {} : { namespace }) };
      return (await load<{ readonly entries: readonly TimelineEntry[] }>("timeline", query)).entries;
    },
  };
}
