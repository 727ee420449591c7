import { expect, it } from "vitest";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  pinnedCopy,
  workload as toFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { ApiError } from "../../kube/api/errors.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { readLaterPins } from "./read-later-pins.ts";

const [first, second, third] = ["page=page-0000000001", "page=page-0000000002", "page=page-0000000003"];
const copies = [
  pinnedCopy("page-0000000001", { a: "1" }),
  pinnedCopy("page-0000000002", { a: "2" }),
  pinnedCopy("page-0000000003", {}),
];
const fixture = {
  annotations: { "wave.pusher.com/pin-config": "true" },
  templateAnnotations: { "wave.pusher.com/config-hash": "x", "wave.pusher.com/pinned": first },
  pod: { containers: [{ name: "web", envFrom: [{ configMapRef: { name: "page", optional: true } }] }] },
};
const undone = { ...toFixture(fixture), uid: "web" };

const revision = (pinned: string, seconds: number, owner = "web", pod: object = fixture.pod) => ({
  metadata: {
    name: `web-${seconds}`,
    creationTimestamp: new Date(seconds * 1000).toISOString(),
    ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: owner, controller: true }],
  },
  spec: { template: { metadata: { annotations: { "wave.pusher.com/pinned": pinned } }, spec: pod } },
});

/** Returns the metadata of a workload whose pins this field manager wrote. Wave wrote another field. */
const ownedBy = (manager: string) => {
  const pins = { "f:annotations": { "f:wave.pusher.com/pinned": {} } };
  const rollouts = { "f:metadata": { "f:annotations": { "f:wave.pusher.com/consecutive-rollouts": {} } } };
  return {
    managedFields: [
      { manager, operation: "Update", fieldsV1: { "f:spec": { "f:template": { "f:metadata": pins } } } },
      { manager: "wave", operation: "Update", fieldsV1: rollouts },
    ],
  };
};

/** Returns the later pins of a workload that is undone to the first pins, and the number of requests. */
async function laterPins(
  revisions: readonly object[],
  page: string | undefined,
  changedAt: number,
  { refuse = false, pageSize = 200, others = {}, of = undone, owner = "kubectl" } = {},
) {
  let requests = 0;
  const client = {
    request: async <T>({ path, query }: ApiRequest): Promise<T> => {
      requests++;
      if (refuse) throw new ApiError({ request: "list", status: 403, reason: "Forbidden", serverMessage: "" });
      if (!path.endsWith("/replicasets")) return workloadObject({ ...fixture, metadata: ownedBy(owner) }) as T;
      const from = Number(query?.continue ?? 0);
      const to = from + pageSize;
      const metadata = to < revisions.length ? { continue: `${to}` } : {};
      return { metadata, items: revisions.slice(from, to) } as T;
    },
  };
  const configMaps = page === undefined ? [] : [{ ...configMap("page", { a: page, ...others }), changedAt }];
  const live = { lookup: async () => lookupOf(...configMaps, ...copies) };
  const found = await readLaterPins(of, {
    client,
    live,
    policy: defaultPolicy,
    signal: new AbortController().signal,
  });
  return { pinned: found?.pinned, requests };
}

const both = [revision(first, 10), revision(second, 20)];

it("returns the pins of the revision that was undone, with two requests", async () => {
  expect(await laterPins(both, "2", 15)).toEqual({ pinned: second, requests: 2 });
});

it("returns these pins also if the pod template was edited after the undo", async () => {
  expect((await laterPins([...both, revision(first, 30)], "2", 15)).pinned).toBe(second);
  expect((await laterPins([...both, revision(first, 30)], "2", 40)).pinned).toBeUndefined();
});

it("returns the pins of a revision that read other keys", async () => {
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key: "a" } } }];
  const readsOne = revision(second, 20, "web", { containers: [{ name: "web", env }] });
  expect((await laterPins([revision(first, 10), readsOne], "2", 15, { others: { b: "unread" } })).pinned).toBe(second);
});

it("reads all pages of the revisions", async () => {
  expect(await laterPins(both, "2", 15, { pageSize: 1 })).toEqual({ pinned: second, requests: 3 });
});

it("takes the deletion of a ConfigMap for a new change", async () => {
  expect((await laterPins([revision(first, 10), revision(third, 20)], undefined, 0)).pinned).toBeUndefined();
});

it.each<[string, readonly object[], string, number]>([
  ["was edited after the later revision", both, "2", 21],
  ["has other content than the later revision", both, "3", 15],
  ["has no later revision", [revision(first, 20), revision(second, 10)], "2", 15],
  ["was rolled in the same second", [revision(first, 20), revision(second, 20)], "2", 15],
  ["has no revision of its pods", [revision(second, 20)], "2", 15],
  ["has only revisions of another workload", [revision(first, 10), revision(second, 20, "other")], "2", 15],
])("returns nothing if the workload or its ConfigMap %s", async (_what, revisions, page, changedAt) => {
  expect((await laterPins(revisions, page, changedAt)).pinned).toBeUndefined();
});

it("returns nothing if a person resumed the workload after the undo", async () => {
  const annotations = { ...fixture.annotations, "wave.pusher.com/resumed": "2026-01-01T00:01:00Z" };
  const resumed = { ...toFixture({ ...fixture, annotations }), uid: "web" };
  const editedAt = (time: string) => ({ ...resumed, templateEditedAt: Date.parse(time) / 1000 });
  expect((await laterPins(both, "2", 15, { of: editedAt("2026-01-01T00:00:00Z") })).pinned).toBeUndefined();
  expect((await laterPins(both, "2", 15, { of: editedAt("2026-01-01T00:02:00Z") })).pinned).toBe(second);
});

it("returns nothing if Wave wrote the pins, because the content was the first again", async () => {
  expect(await laterPins(both, "2", 15, { owner: "wave" })).toEqual({ pinned: undefined, requests: 1 });
});

it("returns nothing without permission to list revisions", async () => {
  expect((await laterPins(both, "2", 15, { refuse: true })).pinned).toBeUndefined();
});
