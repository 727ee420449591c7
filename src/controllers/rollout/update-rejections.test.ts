import { describe, expect, it } from "vitest";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  pinnedCopy,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import type { Config } from "../../domain/config/digest.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import { rejectionDigest } from "../../domain/pinning/rejections.ts";
import { ConnectionError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";
import { seenPins } from "./memory/workload-memory.ts";
import { updateRejections } from "./update-rejections.ts";

const [first, second] = ["page=page-0000000001", "page=page-0000000002"];
const copy = (name: string, content: string) => pinnedCopy(name, { a: content });
const copies = [copy("page-0000000001", "1"), copy("page-0000000002", "2")];
const rejectedName = "wave.pusher.com/rejected-configmaps";

/** All keys of the ConfigMap, or one key that may be absent. */
const allKeys = { envFrom: [{ configMapRef: { name: "page" } }] };
const key = (name: string) => ({
  env: [{ name, valueFrom: { configMapKeyRef: { name: "page", key: name, optional: true } } }],
});

const object = (pinned: string, rejected?: string, reads: object = allKeys) =>
  workloadObject({
    annotations: { "wave.pusher.com/pin-config": "true", [rejectedName]: rejected },
    templateAnnotations: { "wave.pusher.com/config-hash": "x", "wave.pusher.com/pinned": pinned },
    pod: { containers: [{ name: "web", ...reads }] },
  });
const toPinned = (pinned: string, rejected?: string, reads?: object) =>
  toWorkload(kinds.Deployment, object(pinned, rejected, reads));

/** Returns the managed fields of an object whose pins a field manager wrote. */
const ownedBy = (manager: string | undefined) => {
  const fields = { "f:template": { "f:metadata": { "f:annotations": { "f:wave.pusher.com/pinned": {} } } } };
  return manager === undefined ? [] : [{ manager, fieldsV1: { "f:spec": fields } }];
};

interface Scene {
  readonly writtenPins?: string;
  /** What it rejects, now and when it was last seen. */
  readonly rejected?: string;
  readonly readsBefore?: object;
  readonly reads?: object;
  /** The field manager that owns the pins in the stored object. Default: none. */
  readonly pinnedBy?: string;
  /** When another client last edited the pod template, in seconds, with webhooks. Default: no webhooks. */
  readonly editedAt?: number;
  /** Whether there is a write permit. Default: true. */
  readonly permit?: boolean;
}

/** Runs it for a workload whose pins changed from `before` to `now`, while ConfigMap `page` has this content. Returns the annotation. */
async function rejectedAfter(before: string, now: string, page: Config | Error, scene: Scene = {}) {
  const { writtenPins, rejected, readsBefore, reads, editedAt, pinnedBy, permit = true } = scene;
  const sent: ApiRequest[] = [];
  const workload = { ...toPinned(now, rejected, reads), templateEditedAt: editedAt ?? 0 };
  const live = page instanceof Error ? lookupOf() : lookupOf(page, ...copies);
  const findings: Parameters<typeof updateRejections>[0] = {
    pins: seenPins(toPinned(before, rejected, readsBefore)),
    writtenPins,
    unrestored: undefined,
  };
  const write = await updateRejections(findings, workload, {
    client: {
      request: async <T>(request: ApiRequest): Promise<T> => {
        if (request.method === "PATCH") sent.push(request);
        const stored = object(now, rejected, reads);
        return { ...stored, metadata: { ...stored.metadata, managedFields: ownedBy(pinnedBy) } } as T;
      },
    },
    caches: { lookup: live },
    live: {
      lookup: async () => {
        if (page instanceof Error) throw page;
        return live;
      },
    },
    policy: { ...defaultPolicy, pinConfig: true },
    leadership: soleLeadership(new AbortController().signal),
    webhooks: editedAt !== undefined,
    takePermit: () => permit,
  });
  const patch = (sent[0]?.body ?? []) as readonly { op: string; path: string; value?: string }[];
  const written = patch.find(({ op, path }) => op === "add" && path.endsWith("rejected-configmaps"));
  return { type: write?.type, written: written?.value, unusable: findings.unrestored?.names ?? [] };
}

const nothing = { type: undefined, written: undefined, unusable: [] };
const page = (content: string) => configMap("page", { a: content });

it("records what an undo rejects", async () => {
  const { written } = await rejectedAfter(second, first, page("2"));
  expect(written).toMatch(/^page=[0-9a-f]{16}$/);
});

it("waits for a write permit", async () => {
  expect(await rejectedAfter(second, first, page("2"), { permit: false })).toMatchObject({
    type: "permitPending",
    written: undefined,
  });
});

it("does not take pins that Wave wrote for an undo, if the response was lost and the edit was reverted", async () => {
  expect(await rejectedAfter(first, second, page("1"), { writtenPins: second })).toEqual(nothing);
});

it("does not take the rollout of another leader for an undo while a cache is behind", async () => {
  expect(await rejectedAfter(first, second, page("2"))).toEqual(nothing);
});

it("does not take several rollouts of another leader for an undo, if the content went back meanwhile", async () => {
  expect(await rejectedAfter(second, first, page("2"), { pinnedBy: "wave" })).toEqual(nothing);
  const { written } = await rejectedAfter(second, first, page("2"), { pinnedBy: "kubectl-rollout" });
  expect(written).toMatch(/^page=[0-9a-f]{16}$/);
});

it("does not forget the undo if the configuration cannot be read", async () => {
  const { type } = await rejectedAfter(second, first, new ConnectionError("broken"));
  expect(type).toBe("unavailable");
});

it("names the ConfigMaps of restored pins whose copies are gone", async () => {
  expect(await rejectedAfter(second, "page=page-0000000009", page("2"))).toEqual({
    ...nothing,
    unusable: ["page"],
  });
});

it("recognizes an undo to a pod template that reads more keys, as long as nothing else was edited", async () => {
  const readsBefore = key("a");
  const page = configMap("page", { a: "2", other: "unchanged" });
  expect((await rejectedAfter(second, first, page, { readsBefore })).written).toMatch(/^page=/);
  expect(await rejectedAfter(second, first, configMap("page", { a: "3" }), { readsBefore })).toEqual(nothing);
});

describe("a rejection of a workload whose pod template reads other keys", () => {
  const reads = { env: [...key("a").env, ...key("b").env] };
  const page = configMap("page", { a: "2", b: "new" });
  const rejectionOf = (reads: object) =>
    `page=${rejectionDigest(toPinned(first, undefined, reads), lookupOf(page), "page")}`;

  it("goes on", async () => {
    const found = await rejectedAfter(first, first, page, {
      rejected: rejectionOf(reads),
      readsBefore: reads,
      reads: key("a"),
    });
    expect(found).toMatchObject({ type: "written", written: rejectionOf(key("a")) });
  });

  it("ends if the copy may lack one of the keys", async () => {
    const found = await rejectedAfter(first, first, page, {
      rejected: rejectionOf(key("a")),
      readsBefore: key("a"),
      reads,
    });
    expect(found).toEqual({ type: "written", written: undefined, unusable: ["page"] });
  });

  it("stays as it is if the live content was edited", async () => {
    const edited = { rejected: "page=0123456789abcdef", readsBefore: reads, reads: key("a") };
    expect(await rejectedAfter(first, first, page, edited)).toEqual(nothing);
  });
});

describe("with webhooks", () => {
  const edited = { ...page("2"), changedAt: 15 };

  it("records an undo about which the API server did not ask the webhook", async () => {
    expect((await rejectedAfter(second, first, edited, { editedAt: 16 })).written).toMatch(/^page=/);
  });

  it("does not take pins that the webhook wrote for an undo, if the edit was reverted", async () => {
    for (const editedAt of [14, 15]) expect(await rejectedAfter(second, first, edited, { editedAt })).toEqual(nothing);
  });

  it("does not take the rollout of another leader for an undo, if the content went back meanwhile", async () => {
    expect(await rejectedAfter(second, first, edited, { editedAt: 16, pinnedBy: "wave" })).toEqual(nothing);
  });
});
