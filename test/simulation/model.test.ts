import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hashOf, partOf } from "./model-hash.ts";
import { wasComplete } from "./model-progress.ts";
import { type Place, placesOf } from "./model-reading.ts";
import { standsFor } from "./model-search.ts";
import { namedBy } from "./model-workload.ts";
import type { StoredObject } from "./record.ts";

interface Vector {
  readonly name: string;
  readonly hash: string;
  readonly entries: readonly {
    readonly kind: Place["kind"];
    readonly namespace: string;
    readonly name: string;
    readonly key: string;
    readonly state: "value" | "hidden";
    readonly value?: string;
  }[];
}

const adr = readFileSync(new URL("../../contributing/adr/0002-hash.md", import.meta.url), "utf8");
const vectors = JSON.parse(adr.split("```json")[1]?.split("```")[0] ?? "[]") as readonly Vector[];

/** The example of ADR 2 for one object: how it would be stored, and the references that would show it like this. */
function partOfEntries(entries: Vector["entries"]): Buffer {
  const [first] = entries;
  if (first === undefined) throw new Error("a vector has an object without entries");
  const { kind, namespace, name } = first;
  const hidden = new Set(entries.filter(({ state }) => state === "hidden").map(({ key }) => key));
  const values = entries.filter(({ state }) => state === "value");
  const text = ({ value = "" }: { readonly value?: string }) => (kind === "Secret" ? base64(value) : value);
  const object = stored(kind, name, {
    data: Object.fromEntries(values.filter(({ key }) => !hidden.has(key)).map((entry) => [entry.key, text(entry)])),
    binaryData: Object.fromEntries(
      values.filter(({ key }) => hidden.has(key)).map(({ key, value = "" }) => [key, base64(value)]),
    ),
  });
  const place = { kind, namespace, name, shown: "*", needsObject: true, needsKeys: [] } as const;
  const places = [{ ...place, through: "files" }, ...(hidden.size > 0 ? [{ ...place, through: "variables" }] : [])];
  return partOf(places as readonly Place[], object).bytes;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function stored(kind: string, name: string, fields: object, annotations: Record<string, string> = {}): StoredObject {
  return { kind, metadata: { name, namespace: "one", uid: name, resourceVersion: "1", annotations }, ...fields };
}

describe("the model's hash", () => {
  it.each(vectors)("equals the hash of ADR 2: $name", ({ entries, hash }) => {
    const objects = [...Map.groupBy(entries, ({ kind, namespace, name }) => `${kind}/${namespace}/${name}`)];
    const parts = objects.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ofObject]) => partOfEntries(ofObject));
    expect(hashOf(parts)).toBe(hash);
  });
});

const settings = { crossNamespace: "granted", namespaces: undefined } as const;

function read(podSpec: object, objects: readonly StoredObject[], annotations: Record<string, string> = {}) {
  const workload = stored("Deployment", "web", { spec: { template: { spec: podSpec } } }, annotations);
  const named = namedBy(workload, settings);
  const find = (key: string) =>
    objects.find(({ kind, metadata }) => key === `${kind}/${metadata.namespace}/${metadata.name}`);
  return { places: placesOf(workload), ...standsFor(named, find) };
}

describe("the model's reading", () => {
  const config = (data: Record<string, string>) => stored("ConfigMap", "c", { data });
  const mounted = (volume: object, mount: object = {}) => ({
    containers: [{ name: "app", volumeMounts: [{ name: "v", mountPath: "/v", ...mount }] }],
    volumes: [{ name: "v", ...volume }],
  });

  it("sees one variable and needs its key", () => {
    const spec = {
      containers: [{ env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } }] }],
    };
    expect(read(spec, [config({ other: "x" })]).missing).toBe(true);
    expect(read(spec, [config({ k: "x", other: "x" })]).hash).toBe(read(spec, [config({ k: "x", other: "y" })]).hash);
    expect(read(spec, [config({ k: "x" })]).hash).not.toBe(read(spec, [config({ k: "y" })]).hash);
  });

  it("treats an optional empty object like a missing object", () => {
    const spec = { initContainers: [{ envFrom: [{ configMapRef: { name: "c", optional: true } }] }] };
    expect(read(spec, [])).toMatchObject({ missing: false, hash: read(spec, [config({})]).hash });
  });

  it("sees only one file with subPath, and everything without subPath", () => {
    const before = [config({ a: "x", b: "x" })];
    const after = [config({ a: "x", b: "y" })];
    const narrow = mounted({ configMap: { name: "c" } }, { subPath: "a" });
    const wide = mounted({ configMap: { name: "c" } });
    expect(read(narrow, before).hash).toBe(read(narrow, after).hash);
    expect(read(wide, before).hash).not.toBe(read(wide, after).hash);
  });

  it("needs the keys of items even if no mount shows them", () => {
    const items = [
      { key: "a", path: "folder/a" },
      { key: "b", path: "b" },
    ];
    const spec = mounted({ secret: { secretName: "s", items } }, { subPath: "folder" });
    const secret = (data: Record<string, string>) => stored("Secret", "s", { data });
    expect(read(spec, [secret({ a: base64("x") })]).missing).toBe(true);
    const [one, other] = [secret({ a: base64("x"), b: base64("x") }), secret({ a: base64("x"), b: base64("y") })];
    expect(read(spec, [one])).toMatchObject({ missing: false, hash: read(spec, [other]).hash });
  });

  it("treats an object that another namespace does not share as missing", () => {
    const annotations = { "wave.pusher.com/extra-configmaps": "two/c" };
    const there = (shared: Record<string, string>): StoredObject => {
      const { metadata, ...rest } = config({ a: "x" });
      return { ...rest, metadata: { ...metadata, namespace: "two", annotations: shared } };
    };
    expect(read({}, [there({})], annotations).missing).toBe(true);
    const shared = { "wave.pusher.com/shared-with": "three, one" };
    expect(read({}, [there(shared)], annotations).missing).toBe(false);
  });
});

it("takes a DaemonSet as complete only after its controller has seen it, also if it wants no Pods", () => {
  const metadata = { namespace: "one", name: "w", uid: "u", resourceVersion: "1", generation: 2 };
  const daemonSet = (status?: object) => wasComplete({ kind: "DaemonSet", metadata, spec: {}, status } as StoredObject);
  expect(daemonSet()).toBe(false);
  expect(daemonSet({ observedGeneration: 1 })).toBe(true);
  expect(daemonSet({ observedGeneration: 1, desiredNumberScheduled: 1 })).toBe(false);
});
