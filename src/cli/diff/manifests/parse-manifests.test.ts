import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseManifests, readManifestFiles } from "./parse-manifests.ts";

const parsed = async (data: string) => {
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page}\n${data}\n`;
  const [manifest] = await parseManifests([{ name: "f.yaml", text }]);
  const { apiVersion: _v, kind: _k, metadata: _m, ...rest } = manifest?.object ?? {};
  return rest;
};

it.each([
  ["numbers that begin with 0 are octal", "mode: 0644", { mode: 420 }],
  ["yes and on are booleans", "a: [yes, on, Off]", { a: [true, true, false] }],
  ["what looks like base 60, or like a time, is a text", "a: [1:30, 2026-11-22]", { a: ["1:30", "2026-11-22"] }],
  [
    "numbers are those of Go",
    "a: [0o440, 0440, 0O17, 0x1F, 0X1f, 0b101, 0B1, 1_000, 0_7, -0o17, +12, 0o440_, 08, 09.5, 1e3, 1E-2, .5, +.5, 1., 1_000.5]",
    { a: [288, 288, 15, 31, 31, 5, 1, 1000, 7, -15, 12, 288, 8, 9.5, 1000, 0.01, 0.5, 0.5, 1, 1000.5] },
  ],
  [
    "what is no number in Go is a text",
    "a: [0o8, 0o, 0x, 0b12, 1e, _1, ., 190:20:30, '0440', !!str 0440]",
    { a: ["0o8", "0o", "0x", "0b12", "1e", "_1", ".", "190:20:30", "0440", "0440"] },
  ],
  ["a tag decides", 'a: [!!int "0o17", !!float 1, !!timestamp 2001-01-01]', { a: [15, 1, "2001-01-01"] }],
  ["a binary is the text that it encodes", "a: !!binary aGVs\nb: !!binary |\n  aGVs\n  bG8=", { a: "hel", b: "hello" }],
  ["keys are texts", "a: {yes: 1, 0o10: 2, 1.50: 3}", { a: { true: 1, "8": 2, "1.5": 3 } }],
  [
    "mappings are merged",
    "x: &x {a: '1', b: '1'}\ndata: {<<: *x, b: '2'}",
    { x: { a: "1", b: "1" }, data: { a: "1", b: "2" } },
  ],
])("YAML is read as kubectl reads it: %s", async (_, data, expected) => {
  expect(await parsed(data)).toEqual(expected);
});

it("a separator inside a text does not split, and each object has the line on which it starts", async () => {
  const object = (name: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata:\n  a: |\n    ---\n    b\n`;
  const text = `\ufeff# begin\n${object("a")}--- # next\n\n${object("b")}---\n`;
  const manifests = await parseManifests([{ name: "f.yaml", text: text.replaceAll("\n", "\r\n") }]);
  expect(manifests.map(({ name, place }) => [name, place])).toEqual([
    ["a", "f.yaml:2"],
    ["b", "f.yaml:11"],
  ]);
  expect(manifests[0]?.object.data).toEqual({ a: "---\nb\n" });
});

it("a binary that is no base64 is a mistake with its line", async () => {
  await expect(parsed("data:\n  a: !!binary secret!")).rejects.toThrow(/^f\.yaml:5: invalid YAML/);
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wave-manifests-"));
  writeFileSync(join(folder, "a.yaml"), "a: 1");
});
afterEach(() => rmSync(folder, { recursive: true }));

const nothing = async function* () {};

it("reads an endless input only up to the limit", async () => {
  let read = 0;
  const endless = async function* () {
    for (;;) {
      read += 1 << 20;
      yield new Uint8Array(1 << 20);
    }
  };
  await expect(readManifestFiles(["-"], endless)).rejects.toThrow("exceed 32 MiB");
  expect(read).toBe(33 << 20);
});

it.each(["/dev/zero", "a large file of a folder"])("reads %s only up to the limit", async (name) => {
  const path = join(folder, "b.yaml");
  writeFileSync(path, "");
  truncateSync(path, 3 * 2 ** 30);
  await expect(readManifestFiles([name === "/dev/zero" ? name : folder], nothing)).rejects.toThrow("exceed 32 MiB");
});

it("leaves out pipes of a folder, which might block forever", async () => {
  execFileSync("mkfifo", [join(folder, "b.yaml")]);
  expect(await readManifestFiles([folder], nothing)).toEqual([{ name: join(folder, "a.yaml"), text: "a: 1" }]);
});
