import type { Clock } from "../../lib/clock.ts";
import type { Id, Model, Update } from "./model.ts";

interface TableReading<Row> {
  readonly rows: readonly Row[];
  /** Reports whether a row that `rows` lacks is gone. */
  readonly replaces: (id: Id) => boolean;
}

type ModelReading = { readonly [Table in keyof Model]?: TableReading<Model[Table][Id]> };

interface UpdateSink {
  /** Sends an event. Returns whether the connection takes more; otherwise it calls `onDrain` of the stream later. */
  readonly send: (event: Buffer) => boolean;
  readonly close: () => void;
}

interface Subscription {
  /** Tells the stream that the sink takes more again. */
  readonly onDrain: () => void;
  readonly end: () => void;
}

interface Subscriber {
  readonly sink: UpdateSink;
  /** Since when the sink takes nothing, in monotonic milliseconds; undefined if it takes more. */
  fullSince: number | undefined;
  /** Whether it has missed an update, so that it needs a whole model. */
  isBehind: boolean;
}

/** Maximum number of subscribers. A browser tab is one. */
const maxSubscribers = 32;

/** A sink that takes nothing for this time is closed, in milliseconds. A browser connects again by itself. */
const longestFullMs = 60_000;

const tables = ["clusters", "workloads", "changes", "tasks"] as const satisfies readonly (keyof Model)[];

/**
 * The model as all pages see it. Keeps each row as JSON, compares readings row by row, and sends what differs. A subscriber that is slow
 * misses updates and then receives the whole model, so it never makes memory grow.
 */
export class ModelStream {
  readonly #rows = new Map<keyof Model, Map<Id, string>>(tables.map((table) => [table, new Map<Id, string>()]));
  readonly #subscribers = new Set<Subscriber>();
  readonly #clock: Pick<Clock, "wall" | "monotonic">;
  #counter = 0;
  /** The event with the whole model, as long as nothing changes. */
  #whole: Buffer | undefined;

  constructor(clock: Pick<Clock, "wall" | "monotonic">) {
    this.#clock = clock;
  }

  /** Takes over what a reading returned, and sends the rows that differ. */
  publish(reading: ModelReading): void {
    const differences = tables.flatMap((table) => {
      const read = reading[table];
      const changed = read === undefined ? [] : this.#replace(table, read);
      return changed.length === 0 ? [] : [`"${table}":{${changed.join(",")}}`];
    });
    if (differences.length === 0) return;
    this.#counter++;
    this.#whole = undefined;
    this.#sendAll(differences.join(","));
  }

  /** Shows all subscribers that the stream is alive, and closes those that have taken nothing for a minute. */
  beat(): void {
    const now = this.#clock.monotonic();
    for (const { sink, fullSince } of this.#subscribers)
      if (fullSince !== undefined && now - fullSince >= longestFullMs) sink.close();
    this.#sendAll("");
  }

  /** Sends the whole model, then all differences. Returns undefined if there are too many subscribers. */
  subscribe(sink: UpdateSink): Subscription | undefined {
    if (this.#subscribers.size >= maxSubscribers) return undefined;
    const subscriber: Subscriber = { sink, fullSince: undefined, isBehind: false };
    this.#subscribers.add(subscriber);
    this.#send(subscriber, this.#wholeModel());
    return {
      onDrain: () => {
        subscriber.fullSince = undefined;
        if (!subscriber.isBehind) return;
        subscriber.isBehind = false;
        this.#send(subscriber, this.#wholeModel());
      },
      end: () => void this.#subscribers.delete(subscriber),
    };
  }

  /** Returns the differences of a table as members of a JSON object. */
  #replace<T extends keyof Model>(table: T, { rows, replaces }: TableReading<Model[T][Id]>): readonly string[] {
    const known = this.#rows.get(table) ?? new Map<Id, string>();
    const changed: string[] = [];
    const seen = new Set<Id>();
    for (const row of rows) {
      const json = JSON.stringify(row);
      seen.add(row.id);
      if (known.get(row.id) === json) continue;
      known.set(row.id, json);
      changed.push(`${JSON.stringify(row.id)}:${json}`);
    }
    for (const id of known.keys()) {
      if (seen.has(id) || !replaces(id)) continue;
      known.delete(id);
      changed.push(`${JSON.stringify(id)}:null`);
    }
    return changed;
  }

  #sendAll(rows: string): void {
    if (this.#subscribers.size === 0) return;
    const event = this.#event("difference", `"rows":{${rows}}`);
    for (const subscriber of this.#subscribers) this.#send(subscriber, event);
  }

  #send(subscriber: Subscriber, event: Buffer): void {
    if (subscriber.fullSince !== undefined) {
      subscriber.isBehind = true;
      return;
    }
    if (!subscriber.sink.send(event)) subscriber.fullSince = this.#clock.monotonic();
  }

  #wholeModel(): Buffer {
    if (this.#whole !== undefined) return this.#whole;
    const all = tables.map((table) => {
      const rows = [...(this.#rows.get(table) ?? [])].map(([id, json]) => `${JSON.stringify(id)}:${json}`);
      return `"${table}":{${rows.join(",")}}`;
    });
    this.#whole = this.#event("model", `"model":{${all.join(",")}}`);
    return this.#whole;
  }

  /** Returns a server-sent event. JSON has no line feeds. */
  #event(type: Update["type"], rest: string): Buffer {
    return Buffer.from(`id: ${this.#counter}\ndata: {"type":"${type}","at":${this.#clock.wall()},${rest}}\n\n`);
  }
}
