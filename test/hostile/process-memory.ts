import { closeSync, openSync, readFileSync, readSync } from "node:fs";

/** Bytes that are read at once, and bytes that are read again so that no text is cut. */
const [partBytes, overlapBytes] = [16 * 1024 * 1024, 1024];

/** Returns the forms of a text in which its occurrences can be found: plain, in UTF-16, and in base64 after 0, 1 and 2 other bytes. */
function formsOf(text: string): readonly Buffer[] {
  const base64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.from(" ".repeat(before) + text)
      .toString("base64")
      .replace(/=+$/, "");
    // Without the characters that also depend on other bytes.
    return Buffer.from(encoded.slice(before === 0 ? 0 : 4, -2));
  });
  return [Buffer.from(text), Buffer.from(text, "utf16le"), ...base64];
}

/** Returns those of these texts, by name, that the memory of a process contains in any of their forms, with the region. */
export function foundInMemory(pid: number, texts: ReadonlyMap<string, string>): readonly string[] {
  const forms = [...texts].flatMap(([name, text]) => formsOf(text).map((form) => [name, form] as const));
  const found = new Set<string>();
  const memory = openSync(`/proc/${pid}/mem`, "r");
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
      const [, from = "", to = "", region = ""] = /^([0-9a-f]+)-([0-9a-f]+) r.{3}(?: \S+){3}\s*(.*)$/.exec(line) ?? [];
      if (from === "" || region.startsWith("[v")) continue;
      for (const part of partsOf(memory, Number.parseInt(from, 16), Number.parseInt(to, 16)))
        for (const [name, form] of forms)
          if (part.includes(form)) found.add(`${name} in ${region || "memory without a name"}`);
    }
  } finally {
    closeSync(memory);
  }
  return [...found];
}

function* partsOf(memory: number, from: number, to: number): Iterable<Buffer> {
  const part = Buffer.allocUnsafe(partBytes + overlapBytes);
  for (let at = from; at < to; at += partBytes) {
    try {
      yield part.subarray(0, readSync(memory, part, 0, Math.min(part.length, to - at), at));
    } catch {
      // The region was returned to the kernel meanwhile.
    }
  }
}
