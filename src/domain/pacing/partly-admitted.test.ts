import { expect, it } from "vitest";
import { partlyAdmitted } from "./partly-admitted.ts";

it("names the changes that admit a workload which another change holds", () => {
  const due: Readonly<Record<string, readonly string[]>> = { a: ["x", "y", "z"], b: ["x"], c: ["y", "z"] };
  const admitted = new Map([
    ["x", new Set(["a", "b"])],
    ["y", new Set(["a", "c"])],
    ["z", new Set(["c"])],
  ]);
  const isAdmittedByAll = (key: string) => due[key]?.every((change) => admitted.get(change)?.has(key)) === true;
  expect([...partlyAdmitted(admitted, isAdmittedByAll)]).toEqual([["a", ["x", "y"]]]);
});
