import { createHash } from "node:crypto";
import type { Place } from "./model-reading.ts";
import type { StoredObject } from "./record.ts";

/** What Pods see under one key ("" for the object itself), with its state in the bytes of ADR 2. */
export interface Seen {
  readonly key: string;
  readonly state: Buffer;
}

/** All that the Pods of one workload see of one object, and whether they could start. */
export interface Part {
  /** The entries in the bytes of ADR 2: parts of several objects, in the order of their names, are put together. */
  readonly bytes: Buffer;
  /** How many entries there are. */
  readonly entries: number;
  /** Something that the Pods need is not there. */
  readonly missing: boolean;
}

const absent = Buffer.from([0]);
const present = Buffer.from([2]);

/** What the places that name one object show of it as it is in `object`, undefined where it does not exist. */
export function partOf(places: readonly Place[], object: StoredObject | undefined): Part {
  const [first] = places;
  const seen = places.flatMap((place) => seenThrough(place, object));
  if (object !== undefined) seen.push(...hiddenFromVariables(places, object));
  const entries = seen.sort(byBytes).filter((one, i) => i === 0 || byBytes(one, seen[i - 1] ?? one) !== 0);
  const name = first === undefined ? [] : [first.kind, first.namespace, first.name].map(field);
  const bytes = entries.flatMap(({ key, state }) => [...name, field(key), state]);
  return {
    bytes: Buffer.concat(bytes),
    entries: entries.length,
    missing: places.some((place) => lacks(place, object)),
  };
}

/** `v2:` and the SHA-256 of ADR 2 over the parts of all objects, sorted by kind, namespace and name. */
export function hashOf(parts: readonly Buffer[]): string {
  const hash = createHash("sha256").update("wave.pusher.com/config-hash v2\n", "ascii");
  for (const part of parts) hash.update(part);
  return `v2:${hash.digest("hex")}`;
}

function seenThrough({ through, shown }: Place, object: StoredObject | undefined): Seen[] {
  const value = (key: string) => object && valuesOf(object).get(key);
  const state = (key: string) => {
    const found = value(key);
    return found === undefined || (through === "variables" && found.binary) ? absent : found.state;
  };
  if (shown !== "*") return shown.map((key) => ({ key, state: state(key) }));
  if (object === undefined) return [{ key: "", state: absent }];
  const keys = [...valuesOf(object)].filter(([, { binary }]) => through === "files" || !binary).map(([key]) => key);
  return [{ key: "", state: present }, ...keys.map((key) => ({ key, state: state(key) }))];
}

/** A key of `binaryData` that both files and all variables read is seen as its value and as absent. */
function hiddenFromVariables(places: readonly Place[], object: StoredObject): Seen[] {
  if (!places.some(({ through, shown }) => through === "variables" && shown === "*")) return [];
  const asFile = (key: string) =>
    places.some(({ through, shown }) => through === "files" && (shown === "*" || shown.includes(key)));
  return [...valuesOf(object)]
    .filter(([key, { binary }]) => binary && asFile(key))
    .map(([key]) => ({ key, state: absent }));
}

function lacks({ through, needsObject, needsKeys }: Place, object: StoredObject | undefined): boolean {
  if (object === undefined) return needsObject;
  return needsKeys.some((key) => {
    const found = valuesOf(object).get(key);
    return found === undefined || (through === "variables" && found.binary);
  });
}

interface Value {
  /** 01 and the SHA-256 of the value. */
  readonly state: Buffer;
  /** From `binaryData`. */
  readonly binary: boolean;
}

const known = new WeakMap<StoredObject, ReadonlyMap<string, Value>>();

function valuesOf(object: StoredObject): ReadonlyMap<string, Value> {
  let values = known.get(object);
  if (values === undefined) {
    const encoding = object.kind === "Secret" ? "base64" : "utf8";
    values = new Map([...read(object.binaryData, "base64", true), ...read(object.data, encoding, false)]);
    known.set(object, values);
  }
  return values;
}

function read(field: unknown, encoding: "utf8" | "base64", binary: boolean): [string, Value][] {
  return Object.entries((field ?? {}) as Readonly<Record<string, string>>).map(([key, text]) => {
    const digest = createHash("sha256").update(Buffer.from(text, encoding)).digest();
    return [key, { state: Buffer.concat([Buffer.from([1]), digest]), binary }];
  });
}

function field(text: string): Buffer {
  const utf8 = Buffer.from(text, "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(utf8.length);
  return Buffer.concat([length, utf8]);
}

function byBytes(a: Seen, b: Seen): number {
  return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) || Buffer.compare(a.state, b.state);
}
