import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { outcomeNames, outcomes } from "./outcomes.ts";

it("people can be told of every reason that an Event of a workload or of what it reads has, and of no other", () => {
  const root = new URL("../..", import.meta.url).pathname;
  const sources = globSync("{controllers,domain}/**/*.ts", { cwd: root }).filter((file) => !/\.test\./.test(file));
  const told = sources.flatMap((file) =>
    Array.from(readFileSync(`${root}${file}`, "utf8").matchAll(/reason: "([A-Z][A-Za-z]+)"/g), ([, reason]) => reason),
  );
  const known: readonly string[] = outcomeNames.flatMap((name) => outcomes[name].reasons);
  expect([...new Set(told)].sort()).toEqual(known.toSorted());
  expect(new Set(known).size).toBe(known.length);
});
