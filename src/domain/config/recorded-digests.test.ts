import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testKey, testKeys } from "../../../test/support/domain/hash-keys.ts";
import { configMap, lookupOf, secret } from "../../../test/support/domain/objects.ts";
import { configKey, type Reference } from "../references/references.ts";
import type { Config } from "./digest.ts";
import type { ConfigView } from "./hash.ts";
import { changesSince, readDigests, writeDigests } from "./recorded-digests.ts";
import { changesBetween, viewOfReferences } from "./view-of-references.ts";

type Values = Readonly<Record<string, string>>;
type State = Readonly<Record<string, Values | undefined>>;

const reads = (kind: "ConfigMap" | "Secret", name: string, keys: Reference["keys"] = "all"): Reference => ({
  ...{ kind, namespace: "default", name, keys },
  ...{ reads: "env", optional: true, path: "" },
});
const named = ["x", "y", "z"];
const references = ["a", "b", "c"].flatMap((name) => [reads("ConfigMap", name), reads("ConfigMap", name, named)]);
const keys = testKeys(1);

const view = (
  read: readonly Reference[],
  objects: readonly Config[],
  key = keys.current as typeof keys.current | null,
) => viewOfReferences(read, lookupOf(...objects), key ?? undefined);
const stateOf = (state: State) =>
  Object.entries(state).flatMap(([name, data]) => (data ? [configMap(name, data)] : []));

function found(written: string | undefined, before: ConfigView, after: ConfigView, read = references, known = keys) {
  const digests = readDigests(written, before.hash, known);
  if (digests === undefined) return undefined;
  const find = changesSince(digests, after, read);
  const objects = new Map([...read, ...after.entries].map((each) => [configKey(each), each]));
  return [...objects.values()].flatMap((object) => find(object) ?? []);
}

describe("recorded digests", () => {
  const values = fc.dictionary(fc.constantFrom(...named), fc.constantFrom("1", "2"));
  const states = fc.record({
    a: fc.option(values, { nil: undefined }),
    b: values,
    c: fc.option(values, { nil: undefined }),
  });

  it("name the same changes as both views, with and without a hash key", () => {
    fc.assert(
      fc.property(states, states, fc.boolean(), (first, second, keyed) => {
        const key = keyed ? keys.current : null;
        const [before, after] = [view(references, stateOf(first), key), view(references, stateOf(second), key)];
        expect(found(writeDigests(before), before, after)).toEqual(changesBetween(before, after));
      }),
    );
  });

  it("have no digest of a Secret without a hash key, and keyed ones with it", () => {
    const read = [reads("Secret", "db"), reads("ConfigMap", "web")];
    const objects = (password: string) => [secret("db", { password }), configMap("web", { page: "1" })];
    const written = (password: string, key: typeof keys.current | null) =>
      (writeDigests(view(read, objects(password), key)) ?? "").slice(16);
    expect(written("1", null)).toBe(written("2", null));
    expect(written("1", null)).toBe((writeDigests(view(read.slice(1), objects("1"), null)) ?? "").slice(16));
    expect(written("1", keys.current)).not.toBe(written("2", keys.current));
    expect(written("1", keys.current)).not.toBe(written("1", testKey(9)));
    const before = view(read, objects("1"));
    const after = view(read, objects("2"));
    expect(found(writeDigests(before), before, after, read)).toMatchObject([{ kind: "Secret", keys: ["password"] }]);
  });

  it("are read with the previous key, and void without the key or with another recorded hash", () => {
    const [before, after] = [
      view(references, [configMap("a", { x: "1" })]),
      view(references, [configMap("a", { x: "2" })]),
    ];
    const written = writeDigests(before);
    const rotated = { current: testKey(8), previous: keys.current, remembered: [] };
    const afterRotation = view(references, [configMap("a", { x: "2" })], testKey(8));
    expect(found(written, before, afterRotation, references, rotated)).toMatchObject([{ how: "changed", keys: ["x"] }]);
    expect(found(written, before, after, references, testKeys(5))).toBeUndefined();
    expect(found(written, after, after)).toBeUndefined();
    expect(writeDigests({ ...before, key: testKey(7) })).toBeUndefined();
  });

  it("add no name to a reason, whatever a client writes", () => {
    const before = view(references, [configMap("a", { x: "1" })]);
    const after = view(references, [configMap("a", { x: "2", y: "1" })]);
    const end = before.hash.slice(-16);
    const [, objects = ""] = writeDigests(before)?.split(" ") ?? [];
    const texts = fc.oneof(
      fc.string(),
      fc.string().map((text) => `${end} ${text}`),
      fc.tuple(fc.string(), fc.string()).map(([a, b]) => `${end} ${objects}${a} ${b}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const changes = found(text, before, after) ?? [];
        expect(changes.every(({ kind, name }) => kind === "ConfigMap" && ["a", "b", "c"].includes(name))).toBe(true);
        expect(changes.flatMap((change) => change.keys).every((key) => named.includes(key))).toBe(true);
      }),
    );
  });

  it("of ten thousand keys name the object, and of thousands of objects nothing, in 2 KiB", () => {
    const data = (value: string) =>
      Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`k${index}`, value]));
    const read = [reads("ConfigMap", "big")];
    const before = view(read, [configMap("big", data("1"))]);
    const written = writeDigests(before);
    expect(written?.length).toBeLessThan(100);
    const after = view(read, [configMap("big", { ...data("1"), k5: "2" })]);
    expect(found(written, before, after, read)).toMatchObject([{ name: "big", how: "changed", keys: [] }]);
    // Nine thousand keys are added to a few.
    const few = view(read, [configMap("big", { k1: "1" })]);
    expect(found(writeDigests(few), few, after, read)).toMatchObject([{ name: "big", how: "changed", keys: [] }]);
    const names = Array.from({ length: 1_000 }, (_, index) => `c${index}`);
    const many = view(
      names.map((name) => reads("ConfigMap", name)),
      names.map((name) => configMap(name, { a: "1" })),
    );
    expect(writeDigests(many)).toBeUndefined();
    const most = view(
      names.slice(0, 126).map((name) => reads("ConfigMap", name)),
      names.map((name) => configMap(name, { a: "1" })),
    );
    expect(writeDigests(most)?.length).toBeLessThanOrEqual(2_048);
    expect(writeDigests(most)?.split(" ")).toHaveLength(3);
  });
});
