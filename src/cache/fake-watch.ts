import type { KubeObject } from "../kube/api-types.ts";
import type { ReflectorEvent } from "../kube/watch-context.ts";
import type { Watch, Watched } from "./kind-cache.ts";

interface FedEvent {
  readonly type: ReflectorEvent<KubeObject>["type"];
  readonly object?: unknown;
  /** Of `initFailed`. */
  readonly why?: string;
}

/** Events that a test hands to one reflector, whenever it wants. Like on the wire, objects arrive as JSON. */
export class Feed {
  readonly #lines: string[] = [];
  #wake: () => void = () => {};
  #taken: () => void = () => {};

  /** Resolves when the reflector has taken in all events. */
  push(...events: FedEvent[]): Promise<void> {
    this.#lines.push(...events.map((event) => JSON.stringify(event)));
    return new Promise((resolve) => {
      this.#taken = resolve;
      this.#wake();
    });
  }

  /** A whole list. */
  list(...objects: unknown[]): Promise<void> {
    const all = objects.map((object) => ({ type: "initApply" as const, object }));
    return this.push({ type: "init" }, ...all, { type: "initDone" });
  }

  async *events<O extends KubeObject>(signal: AbortSignal): AsyncGenerator<ReflectorEvent<O>> {
    signal.addEventListener("abort", () => this.#wake());
    while (!signal.aborted) {
      const line = this.#lines.shift();
      if (line === undefined) await this.#more();
      else yield JSON.parse(line);
    }
    // As requests do that are under way when their signal is aborted.
    throw signal.reason;
  }

  #more(): Promise<void> {
    this.#taken();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** A watch over feeds by plural and namespace, as in "secrets" or "secrets/team-a". Only tests import it. */
export class FakeWatch {
  readonly watched: Watched[] = [];
  readonly #feeds = new Map<string, Feed>();

  feed(name: string): Feed {
    const feed = this.#feeds.get(name) ?? new Feed();
    this.#feeds.set(name, feed);
    return feed;
  }

  readonly watch: Watch = (what, signal) => {
    this.watched.push(what);
    const { plural } = what.resource;
    return this.feed(what.namespace === undefined ? plural : `${plural}/${what.namespace}`).events(signal);
  };
}
