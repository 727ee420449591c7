import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { outcomeNames, outcomes } from "./notification.ts";

it("has every reason of an Event of a workload or its configuration, and no other", () => {
  const root = new URL("../..", import.meta.url).pathname;
  const sources = globSync("{controllers,domain}/**/*.ts", { cwd: root }).filter((file) => !/\.test\./.test(file));
  const used = sources.flatMap((file) =>
    Array.from(readFileSync(`${root}${file}`, "utf8").matchAll(/reason: "([A-Z][A-Za-z]+)"/g), ([, reason]) => reason),
  );
  const known: readonly string[] = outcomeNames.flatMap((name) => outcomes[name].reasons);
  expect([...new Set(used)].sort()).toEqual(known.toSorted());
  expect(new Set(known).size).toBe(known.length);
});
