import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../kube/api/resources.ts";
import type { ReflectorEvent } from "../../kube/list-watch/paged-list.ts";
import { type LogFields, type Logger, silentLogger } from "../../telemetry/logging/log.ts";
import { applyConcurrentList, runReflector } from "./reflector.ts";
import { Store } from "./store.ts";

interface Thing extends KubeObject {
  readonly data?: unknown;
}

const thing = (name: string, data?: unknown): Thing => ({
  metadata: { namespace: "ns", name, uid: "1", resourceVersion: "1" },
  data,
});

async function* stream(...events: ReflectorEvent<Thing>[]): AsyncGenerator<ReflectorEvent<Thing>> {
  yield* events;
}

const list = (...objects: Thing[]): ReflectorEvent<Thing>[] => [
  { type: "init" },
  ...objects.map((object) => ({ type: "initApply" as const, object })),
  { type: "initDone" },
];

function recordingLogger() {
  const lines: { message: string; fields: LogFields }[] = [];
  const write = (message: string, fields: LogFields = {}) => lines.push({ message, fields });
  const log: Logger = { debug: write, info: write, warn: write, error: write };
  return { log, lines };
}

const newStore = (onChange: (change: { key: string }) => void = () => {}) =>
  new Store<string>({ kind: "Secret", same: (a, b) => a === b, onChange });

/** Holds strings, nothing of `skip`, and stumbles over everything else. */
function transform({ data }: Thing): string | undefined {
  if (data === "skip") return undefined;
  if (data === "broken") throw new Error("is malformed");
  if (typeof data !== "string") return JSON.parse(`${data}`);
  return data;
}

describe("runReflector", () => {
  it("passes lists and events to the store, and ends with them", async () => {
    const store = newStore();
    const events = stream(
      ...list(thing("a", "1"), thing("b", "1")),
      { type: "apply", object: thing("a", "2") },
      { type: "apply", object: thing("c", "1") },
      { type: "delete", object: thing("b") },
    );
    let synced = 0;
    await runReflector({ kind: "Secret", events, store, transform, log: silentLogger, onSynced: () => synced++ });
    expect([store.get("ns", "a"), store.get("ns", "b"), store.get("ns", "c")]).toEqual(["2", undefined, "1"]);
    expect(synced).toBe(1);
  });

  it("removes an object when the transform no longer returns it", async () => {
    const changed: string[] = [];
    const store = newStore(({ key }) => changed.push(key));
    const events = stream(...list(thing("a", "1"), thing("b", "skip")), { type: "apply", object: thing("a", "skip") });
    await runReflector({ kind: "Secret", events, store, transform, log: silentLogger });
    expect([store.size, changed]).toEqual([0, ["Secret/ns/a", "Secret/ns/a"]]);
  });

  it("logs a malformed object by name, keeps its last good value and continues", async () => {
    const store = newStore();
    const { log, lines } = recordingLogger();
    const events = stream(
      ...list(thing("a", "good"), thing("b", "broken")),
      { type: "apply", object: thing("a", "broken") },
      ...list(thing("a", "broken"), thing("c", "1")),
    );
    await runReflector({ kind: "Secret", events, store, transform, log });
    expect([store.get("ns", "a"), store.get("ns", "b"), store.get("ns", "c")]).toEqual(["good", undefined, "1"]);
    const line = (name: string) => ({
      message: "ignored a malformed object",
      fields: { kind: "Secret", namespace: "ns", name, error: "is malformed" },
    });
    expect(lines).toEqual([line("b"), line("a"), line("a")]);
  });

  it("logs no message of the runtime, which may contain a value", async () => {
    const { log, lines } = recordingLogger();
    const events = stream(...list(thing("a", ["hunter2"])));
    await runReflector({ kind: "Secret", events, store: newStore(), transform, log });
    expect(lines.map(({ fields }) => fields.error)).toEqual(["SyntaxError"]);
    expect(JSON.stringify(lines)).not.toContain("hunter2");
  });

  it("ignores an object without a name", async () => {
    const { log, lines } = recordingLogger();
    const nameless: Thing = JSON.parse('{"data": "x"}');
    const store = newStore();
    const events = stream(...list(nameless, thing("a", "1")), { type: "delete", object: nameless });
    await runReflector({ kind: "Secret", events, store, transform, log });
    expect(store.size).toBe(1);
    expect(lines).toHaveLength(2);
  });

  it("ignores events that are older than a list of one namespace, but no list of storage that was restored", async () => {
    const at = (resourceVersion: string, data: string): Thing => ({
      metadata: { ...thing("a").metadata, resourceVersion },
      data,
    });
    interface Held {
      readonly text: string;
      readonly version: number;
    }
    const store = new Store<Held>({ kind: "Secret", same: (a, b) => a.text === b.text, onChange: () => {} });
    const options = {
      kind: "Secret",
      store,
      transform: ({ metadata, data }: Thing) => ({ text: `${data}`, version: Number(metadata.resourceVersion) }),
      versionOf: ({ version }: Held) => version,
      log: silentLogger,
    };
    const shown: (string | undefined)[] = [];
    async function* events(): AsyncGenerator<ReflectorEvent<Thing>> {
      yield* list(at("10", "first"));
      await applyConcurrentList("ns", () => stream({ type: "initApply", object: at("40", "listed") }), options);
      const watched: ReflectorEvent<Thing>[] = [
        { type: "apply", object: at("20", "earlier") },
        { type: "delete", object: at("30", "earlier") },
        { type: "apply", object: at("50", "edited") },
        ...list(at("5", "restored")),
        { type: "delete", object: at("6", "restored") },
      ];
      for (const event of watched) {
        yield event;
        shown.push(store.get("ns", "a")?.text);
      }
    }
    await runReflector({ ...options, events: events() });
    expect(shown).toEqual(["listed", "listed", "edited", "edited", "edited", "restored", undefined]);
  });

  it("fails with its events, and when a change cannot be announced", async () => {
    async function* broken(): AsyncGenerator<ReflectorEvent<Thing>> {
      yield { type: "init" };
      throw new Error("the stream broke");
    }
    const options = { kind: "Secret", transform, log: silentLogger };
    await expect(runReflector({ ...options, events: broken(), store: newStore() })).rejects.toThrow("the stream broke");
    const store = newStore(() => {
      throw new Error("nobody listens");
    });
    const events = stream(...list(thing("a", "1")));
    await expect(runReflector({ ...options, events, store })).rejects.toThrow("nobody listens");
  });
});
