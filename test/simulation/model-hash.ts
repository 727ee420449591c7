import { createHash } from "node:crypto";
import type { Place } from "./model-reading.ts";
import type { StoredObject } from "./record.ts";

/** What Pods see under one key, with its state in the encoding of ADR 2. */
export interface Seen {
  readonly key: string;
  readonly state: Buffer;
}

/** Everything that the Pods of one workload see of one object, and whether they could start. */
export interface Part {
  /** The entries in the encoding of ADR 2. Parts of several objects are concatenated in the order of their names. */
  readonly bytes: Buffer;
  /** Whether the Pods would see anything of the object if it existed; an object that must only exist is not read. */
  readonly read: boolean;
  /** Whether something that the Pods need is missing. */
  readonly missing: boolean;
}

/** Whether variables need the key and do not find it, although files show it. */
const hidden = Buffer.from([0]);

/** Returns what the references to one object show of it in the state `object`, undefined if it does not exist. */
export function partOf(places: readonly Place[], object: StoredObject | undefined): Part {
  const [first] = places;
  const seen = object === undefined ? [] : [...inFiles(places, object), ...inVariables(places, object)];
  const entries = seen.sort(byBytes).filter((one, i) => i === 0 || byBytes(one, seen[i - 1] ?? one) !== 0);
  const name = first === undefined ? [] : [first.kind, first.namespace, first.name].map(field);
  const bytes = entries.flatMap(({ key, state }) => [...name, field(key), state]);
  return {
    bytes: Buffer.concat(bytes),
    read: places.some(({ shown }) => shown.length > 0),
    missing: places.some((place) => lacks(place, object)),
  };
}

/** Returns `v2:` and the SHA-256 of ADR 2 over the parts of all objects, sorted by kind, namespace and name. */
export function hashOf(parts: readonly Buffer[]): string {
  const hash = createHash("sha256").update("wave.pusher.com/config-hash v2\n", "ascii");
  for (const part of parts) hash.update(part);
  return `v2:${hash.digest("hex")}`;
}

function inFiles(places: readonly Place[], object: StoredObject): Seen[] {
  const files = places.filter(({ through }) => through === "files");
  const keys = [...valuesOf(object)].filter(([key]) => files.some((place) => looksFor(place, key)));
  return keys.map(([key, { state }]) => ({ key, state }));
}

/** Returns the entry of a key of `binaryData`, which sets no variable. If a variable needs the key, the entry records this when files show it. */
function inVariables(places: readonly Place[], object: StoredObject): Seen[] {
  const through = (how: Place["through"]) => places.filter((place) => place.through === how);
  const [variables, files] = [through("variables"), through("files")];
  return [...valuesOf(object)].flatMap(([key, { binary, state }]) => {
    if (!variables.some((place) => looksFor(place, key))) return [];
    if (!binary) return [{ key, state }];
    return files.some((place) => looksFor(place, key)) ? [{ key, state: hidden }] : [];
  });
}

function looksFor({ shown }: Place, key: string): boolean {
  return shown === "*" || shown.includes(key);
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
