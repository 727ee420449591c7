import { hash } from "node:crypto";
import type { ConfigMap } from "#kubernetes";
import { type Config, digestOf, keysOf } from "../config/digest.ts";
import type { Reference } from "../references/references.ts";
import { maxNameLength } from "../syntax/names.ts";

/** What a pinned copy of a ConfigMap contains: the keys that Pods read, and the keys that they need to start. */
export interface CopyContent {
  /** The sorted keys of `data`. */
  readonly data: readonly string[];
  /** The sorted keys of `binaryData`. */
  readonly binaryData: readonly string[];
  /** SHA-256 over these keys and the digests of their values: 64 hexadecimal digits. */
  readonly digest: string;
}

/** Returns what a pinned copy of `config` contains for these references to it. Keys that do not exist are left out. */
export function copyContent(references: readonly Reference[], config: Config | undefined): CopyContent {
  if (config === undefined) return { data: [], binaryData: [], digest: digestOfLines([]) };
  const wanted = new Set<string>();
  const envOnly = new Set<string>();
  for (const { reads, keys } of references) {
    if (keys !== "all") for (const key of keys) wanted.add(key);
    else if (reads === "env") for (const key of keysOf(config, "data")) envOnly.add(key);
    else if (reads === "files") for (const key of keysOf(config)) wanted.add(key);
  }
  const inData = keysOf(config, "data");
  const inBinary = config.keys.slice(config.binaryFrom);
  const data = inData.filter((key) => wanted.has(key) || envOnly.has(key));
  const binaryData = inBinary.filter((key) => wanted.has(key));
  return { data, binaryData, digest: contentDigest(config, data, binaryData) };
}

/** Returns the content of a whole object, such as a pinned copy that is to be verified. */
export function wholeContent(config: Config): CopyContent {
  const data = keysOf(config, "data");
  const binaryData = config.keys.slice(config.binaryFrom);
  return { data, binaryData, digest: contentDigest(config, data, binaryData) };
}

/** Returns the fields of `source` that a copy with this content has. */
export function copyData(source: ConfigMap | undefined, content: CopyContent): Pick<ConfigMap, "data" | "binaryData"> {
  const pick = (keys: readonly string[], values: Record<string, string> | null | undefined) =>
    Object.fromEntries(keys.map((key) => [key, values?.[key] ?? ""]));
  return {
    ...(content.data.length > 0 && { data: pick(content.data, source?.data) }),
    ...(content.binaryData.length > 0 && { binaryData: pick(content.binaryData, source?.binaryData) }),
  };
}

/** Returns the name of the copy of `source` with this content. 20 digits are for a name with 10 that is taken. */
export function copyName(source: string, { digest }: Pick<CopyContent, "digest">, digits: 10 | 20): string {
  // A name must not contain ".-".
  const prefix = source.slice(0, maxNameLength - digits - 1).replace(/[.-]+$/, "");
  return `${prefix}-${digest.slice(0, digits)}`;
}

/** Reports whether an object has the name of a copy with its content. Anyone may write the label of copies, but not such a name by chance. */
export function isNamedByContent(config: Config): boolean {
  const { digest } = wholeContent(config);
  return [10, 20].some((digits) => config.name.endsWith(`-${digest.slice(0, digits)}`));
}

function contentDigest(config: Config, data: readonly string[], binaryData: readonly string[]): string {
  const line = (part: "data" | "binaryData") => (key: string) => {
    const digest = part === "data" ? digestOf(config, key, "data") : digestOf(config, key);
    return `${part} ${key} ${Buffer.from(digest ?? "", "latin1").toString("hex")}\n`;
  };
  const lines = [...data.map(line("data")), ...binaryData.map(line("binaryData"))];
  return digestOfLines(lines);
}

function digestOfLines(lines: readonly string[]): string {
  return hash("sha256", `wave.pusher.com/pinned-copy v1\n${lines.join("")}`, "hex");
}
