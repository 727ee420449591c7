import { expect, it } from "vitest";
import { configMap, lookupOf, pinnedCopy, workload } from "../../../test/support/domain/objects.ts";
import { readablePins } from "./readable-pins.ts";

const both = "other=other-0000000001,page=page-0000000001";
const lookup = lookupOf(
  configMap("page", { a: "2", b: "2" }),
  pinnedCopy("page-0000000001", { a: "1" }),
  pinnedCopy("other-0000000001", { a: "1" }),
);

/** Returns a workload that reads these keys of its ConfigMaps, "page" and "other". */
function web(pinned: string, page: Readonly<Record<string, boolean>>) {
  const env = Object.entries(page).map(([key, optional]) => ({
    name: key,
    valueFrom: { configMapKeyRef: { name: "page", key, optional } },
  }));
  const envFrom = [{ configMapRef: { name: "other" } }];
  const templateAnnotations = { "wave.pusher.com/pinned": pinned };
  return workload({ templateAnnotations, pod: { containers: [{ name: "web", env, envFrom }] } });
}

it.each([
  ["keeps copies with all keys", both, { a: false }, { a: false }, both, []],
  ["removes a copy that lacks a required key", both, { a: false }, { b: false }, "other=other-0000000001", ["page"]],
  [
    "removes a copy that lacks a key of the new template",
    both,
    { a: false },
    { b: true },
    "other=other-0000000001",
    ["page"],
  ],
  ["keeps a copy without a key that its source did not have", both, { a: true, b: true }, { b: true }, both, []],
  ["keeps a copy of the template itself", both, undefined, { a: false, b: true }, both, []],
  ["removes the last copy", "page=page-0000000001", { a: false }, { b: false }, undefined, ["page"]],
  ["removes a copy that is gone", "page=page-0000000002", { a: false }, { a: false }, undefined, ["page"]],
  ["keeps malformed pins", "page", { a: false }, { b: false }, "page", []],
])("%s", (_, pinned, before, after, expected, live) => {
  expect(readablePins(web(pinned, after), before && web(pinned, before), lookup)).toEqual({ pinned: expected, live });
});
