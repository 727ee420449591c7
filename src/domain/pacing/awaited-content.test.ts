import { expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, readsAll, workload } from "../../../test/support/domain/objects.ts";
import type { Workload } from "../model/workload-shape.ts";
import { rulesFor } from "../policy/rules.ts";
import { awaitedContent } from "./awaited-content.ts";
import { writeCause } from "./cause.ts";

const page = { kind: "ConfigMap", namespace: "default", name: "page" } as const;
const mounts = { volumes: [{ name: "page", configMap: { name: "page" } }] };
const readsKey = (key: string) => {
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key } } }];
  return { containers: [{ name: "web", env }] };
};

/** Returns a workload whose hash was written at this second. */
function reader(pod: object, hashWrittenAt: number, annotations: Record<string, string> = {}): Workload {
  return { ...workload({ pod, annotations }), recordedHash: "v2:a", hashWrittenAt, rolledAt: hashWrittenAt };
}

const all = readsAll("ConfigMap", "page");
const [before, at, after] = [1_000, 2_000, 3_000];
const everything = { isAll: true, since: before * 1_000 };

it.for<[string, Workload, readonly Workload[], { readonly isAll: boolean } | undefined]>([
  ["the whole object, as the others do", reader(all, at), [reader(all, before)], everything],
  ["the whole object, others one key", reader(all, at), [reader(readsKey("a"), before)], everything],
  ["the same key", reader(readsKey("a"), at), [reader(readsKey("a"), before)], everything],
  ["files that others read as variables", reader(mounts, at), [reader(all, before)], everything],
  ["variables that others read as files", reader(all, at), [reader(mounts, before)], undefined],
  ["one key, others the whole object", reader(readsKey("a"), at), [reader(all, before)], undefined],
  ["another key", reader(readsKey("b"), at), [reader(readsKey("a"), before)], undefined],
  [
    "what only some read",
    reader(readsKey("a"), at),
    [reader(readsKey("a"), before), reader(all, before)],
    { ...everything, isAll: false },
  ],
  [
    "what all read, but rolled before one of them",
    reader(all, at),
    [reader(all, before), reader(all, after)],
    { ...everything, isAll: false },
  ],
  ["the object, but rolled before all of them", reader(all, at), [reader(all, after)], undefined],
  [
    "an object that it excludes",
    reader(all, at, { "wave.pusher.com/exclude-configmaps": "page" }),
    [reader(all, before)],
    undefined,
  ],
  [
    "the object, while others have no hash",
    reader(all, at),
    [{ ...reader(all, before), recordedHash: undefined }],
    undefined,
  ],
  ["another object", reader(readsAll("ConfigMap", "other"), at), [reader(all, before)], undefined],
  [
    "the object, but another client changed its pod template",
    { ...reader(all, at), templateEditedAt: after },
    [reader(all, before)],
    undefined,
  ],
  ["the object, but Wave did not roll it", { ...reader(all, at), rolledAt: 0 }, [reader(all, before)], undefined],
])("a rollout shows what due workloads wait for, if its workload reads %s", ([, of, due, shown]) => {
  const policy = rulesFor(of, defaultPolicy);
  const find = awaitedContent(page, due, lookupOf(configMap("page", { a: "1", b: "2" })), { left: 1_000 });
  expect(find(of, policy, of.rolledAt * 1_000)).toEqual(shown);
});

it.each([
  ["the object", "page", at * 1_000],
  ["another object", "other", before * 1_000],
])("a rollout of a broken workload that a change of %s (%s) caused had the content since %i ms", (_, name, since) => {
  const edits = [{ ...page, name, keys: [], at: undefined, by: undefined }];
  const cause = writeCause("v2:a", { at: 0, why: "", edits, heldBy: undefined });
  const of = { ...reader(all, at), cause, rolledIncomplete: `${before * 1_000 + 1}` };
  const find = awaitedContent(page, [reader(all, before)], lookupOf(configMap("page", { a: "1" })), { left: 1_000 });
  expect(find(of, rulesFor(of, defaultPolicy), at * 1_000)?.since).toBe(since);
});

it("a rollout shows nothing if no key may be compared any more", () => {
  const [of, due] = [reader(readsKey("a"), at), [reader(readsKey("a"), before)]];
  const shown = [3, 4].map((left) => {
    const find = awaitedContent(page, due, lookupOf(configMap("page", { a: "1" })), { left });
    return find(of, rulesFor(of, defaultPolicy), of.rolledAt * 1_000)?.isAll;
  });
  expect(shown).toEqual([undefined, true]);
});
