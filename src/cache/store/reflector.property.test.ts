import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../kube/api/resources.ts";
import type { ReflectorEvent } from "../../kube/list-watch/paged-list.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { runReflector } from "./reflector.ts";
import { Store, type StoreChange } from "./store.ts";

interface Thing extends KubeObject {
  readonly value: string;
}

const names = ["a", "b", "c", "d"];
const name = fc.constantFrom(...names);
const namespace = fc.constantFrom("n1", "n2");

/** Somebody writes an object: "label" alone changes nothing that the transform keeps, "skip" is not kept at all. */
type ServerChange =
  | { readonly do: "write"; readonly namespace: string; readonly name: string; readonly value: string }
  | { readonly do: "delete"; readonly namespace: string; readonly name: string };

/** What happens on the server, and what becomes of the connection to it. */
type Step =
  | ServerChange
  /** The watch delivers some of what has happened. */
  | { readonly do: "deliver"; readonly count: number }
  /**
   * The watch broke and its history has expired: a list of which only some objects come before it breaks off too.
   * Where it is a stream, what happens meanwhile comes before its end.
   */
  | { readonly do: "list"; readonly until: number; readonly meanwhile: readonly ServerChange[] };

const serverChange: fc.Arbitrary<ServerChange> = fc.oneof(
  fc.record({
    do: fc.constant("write" as const),
    namespace,
    name,
    value: fc.constantFrom("1", "2", "1 label", "skip"),
  }),
  fc.record({ do: fc.constant("delete" as const), namespace, name }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: serverChange, weight: 2 },
  fc.record({ do: fc.constant("deliver" as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    do: fc.constant("list" as const),
    until: fc.integer({ min: 0, max: 12 }),
    meanwhile: fc.array(serverChange, { maxLength: 2 }),
  }),
);

const textOf = ({ value }: Thing): { text: string } | undefined =>
  value === "skip" ? undefined : { text: value.replace(" label", "") };

/** An API server with one list-watch on it. */
class Server {
  readonly objects = new Map<string, Thing>();
  #undelivered: ReflectorEvent<Thing>[] = [];
  #version = 0;

  change(each: ServerChange): void {
    const key = `${each.namespace}/${each.name}`;
    const metadata = { namespace: each.namespace, name: each.name, uid: key, resourceVersion: `${++this.#version}` };
    if (each.do === "write") {
      this.objects.set(key, { metadata, value: each.value });
      this.#undelivered.push({ type: "apply", object: { metadata, value: each.value } });
    } else if (this.objects.delete(key)) {
      this.#undelivered.push({ type: "delete", object: { metadata, value: "" } });
    }
  }

  deliver(count: number): ReflectorEvent<Thing>[] {
    return this.#undelivered.splice(0, count);
  }

  /** All events of a current list. The watch then has no earlier changes to deliver. */
  list(meanwhile: readonly ServerChange[] = []): ReflectorEvent<Thing>[] {
    const objects = [...this.objects.values()].map((object) => ({ type: "initApply" as const, object }));
    this.#undelivered = [];
    for (const each of meanwhile) this.change(each);
    return [{ type: "init" }, ...objects, ...this.deliver(Number.POSITIVE_INFINITY), { type: "initDone" }];
  }
}

/** The events that the reflector receives during `steps` and a final successful list and watch. */
function* story(server: Server, steps: readonly Step[]): Generator<ReflectorEvent<Thing>> {
  let brokenOff = true;
  for (const each of steps) {
    if (each.do === "write" || each.do === "delete") server.change(each);
    else if (each.do === "deliver" && !brokenOff) yield* server.deliver(each.count);
    else if (each.do === "list") {
      const events = server.list(each.meanwhile);
      brokenOff = each.until < events.length;
      yield* events.slice(0, each.until);
    }
  }
  if (brokenOff) yield* server.list();
  yield* server.deliver(Number.POSITIVE_INFINITY);
}

const snapshot = (store: Store<{ text: string }>) =>
  ["n1", "n2"].flatMap((ns) => names.map((each) => [`Thing/${ns}/${each}`, store.get(ns, each)] as const));

describe("a store after any interleaving of lists, events, disconnects and expired history", () => {
  it("equals the server, equals its own changes applied to nothing, and never shows a part of a list", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
        const replayed = new Map<string, { text: string }>();
        const onChange = ({ key, before, after }: StoreChange<{ text: string }>) => {
          expect(replayed.get(key)).toBe(before);
          expect(after).not.toEqual(before);
          if (after === undefined) replayed.delete(key);
          else replayed.set(key, after);
        };
        const kept = new Set<{ text: string }>();
        const onReplaced = (before: { text: string } | undefined, after: { text: string } | undefined) => {
          if (before !== undefined) expect(kept.delete(before)).toBe(true);
          if (after !== undefined) kept.add(after);
        };
        const same = (a: { text: string }, b: { text: string }) => a.text === b.text;
        const store = new Store<{ text: string }>({ kind: "Thing", same, onChange, onReplaced });
        const server = new Server();
        let shown: ReturnType<typeof snapshot> | undefined;
        async function* events(): AsyncGenerator<ReflectorEvent<Thing>> {
          for (const event of story(server, steps)) {
            if (event.type === "init" && store.synced) shown = snapshot(store);
            yield event;
            if (event.type === "initDone") shown = undefined;
            else if (shown !== undefined) expect(snapshot(store)).toEqual(shown);
          }
        }
        await runReflector({ kind: "Thing", events: events(), store, transform: textOf, log: silentLogger });

        const wanted = [...server.objects.values()].flatMap((object) => {
          const value = textOf(object);
          const { namespace: ns, name: own } = object.metadata;
          return value === undefined ? [] : [[`Thing/${ns}/${own}`, value] as const];
        });
        const held = snapshot(store).filter(([, value]) => value !== undefined);
        expect(Object.fromEntries(held)).toEqual(Object.fromEntries(wanted));
        expect(Object.fromEntries(replayed)).toEqual(Object.fromEntries(wanted));
        expect([store.size, [...store.values()].length]).toEqual([wanted.length, wanted.length]);
        expect(kept).toEqual(new Set(store.values()));
      }),
      { numRuns: 500 },
    );
  });
});
