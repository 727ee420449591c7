import { expect, it } from "vitest";
import { parseManifests } from "./parse-manifests.ts";

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
