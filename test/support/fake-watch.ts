import type { CacheSource, ListNamespace, Watch, WatchTarget } from "../../src/cache/store/kind-cache.ts";
import type { KubeObject } from "../../src/kube/api/resources.ts";
import type { ReflectorEvent } from "../../src/kube/list-watch/paged-list.ts";

interface FedEvent {
  readonly type: ReflectorEvent<KubeObject>["type"];
  readonly object?: unknown;
  /** The argument of `initFailed`. */
  readonly reason?: string;
}

/** Events that a test passes to one reflector at any time. Objects arrive as JSON, as on the wire. */
export class Feed {
  readonly #lines: string[] = [];
  #wake: () => void = () => {};
  #taken: () => void = () => {};

  /** Resolves when the reflector has processed all events. */
  push(...events: FedEvent[]): Promise<void> {
    this.#lines.push(...events.map((event) => JSON.stringify(event)));
    return new Promise((resolve) => {
      this.#taken = resolve;
      this.#wake();
    });
  }

  /** Sends a whole list. */
  list(...objects: unknown[]): Promise<void> {
    const all = objects.map((object) => ({ type: "initApply" as const, object }));
    return this.push({ type: "init" }, ...all, { type: "initDone" });
  }

  async *events<O extends KubeObject>(signal: AbortSignal): AsyncGenerator<ReflectorEvent<O>> {
    signal.addEventListener("abort", () => this.#wake());
    try {
      while (!signal.aborted) {
        const line = this.#lines.shift();
        if (line === undefined) await this.#more();
        else yield JSON.parse(line);
      }
    } finally {
      this.#taken();
    }
    // Behaves as a running request does when its signal is aborted.
    throw signal.reason;
  }

  #more(): Promise<void> {
    this.#taken();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/**
 * Returns a watch over feeds by plural and namespace, such as "secrets" or "secrets/team-a", and lists of a namespace over
 * feeds such as "list of secrets/team-a". Namespaces ("namespaces" or "namespaces/team-a") are listed at once and have no
 * effect, unless the test lists them. For tests only.
 */
export class FakeWatch implements CacheSource {
  readonly watched: WatchTarget[] = [];
  /** The feeds of the requested lists. */
  readonly listed: string[] = [];
  readonly #feeds = new Map<string, Feed>();
  readonly #listsNamespaces: boolean;

  constructor({ listsNamespaces = true } = {}) {
    this.#listsNamespaces = listsNamespaces;
  }

  feed(name: string): Feed {
    const feed = this.#feeds.get(name) ?? new Feed();
    this.#feeds.set(name, feed);
    return feed;
  }

  readonly watch: Watch = (what, signal) => {
    this.watched.push(what);
    const { plural } = what.resource;
    const of = what.namespace ?? what.fieldSelector?.match(/^metadata\.name=(.*)$/)?.[1];
    const feed = this.feed(of === undefined ? plural : `${plural}/${of}`);
    if (plural === "namespaces" && this.#listsNamespaces) void feed.list();
    return feed.events(signal);
  };

  readonly list: ListNamespace = (what, signal) => {
    const name = `list of ${what.resource.plural}/${what.namespace}`;
    this.listed.push(name);
    return untilDone(this.feed(name).events(signal));
  };
}

async function* untilDone<O extends KubeObject>(
  events: AsyncIterable<ReflectorEvent<O>>,
): AsyncGenerator<ReflectorEvent<O>> {
  for await (const event of events) {
    yield event;
    if (event.type === "initDone") return;
    if (event.type === "initFailed") throw new Error(event.reason);
  }
}
