import { expect, it } from "vitest";
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
import { ConnectionError } from "../../kube/api/errors.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { soleLeadership } from "../../runtime/leadership.ts";
import { rejectUndone } from "./reject-undone.ts";

const [first, second] = ["page=page-0000000001", "page=page-0000000002"];
const copy = (name: string, content: string) => pinnedCopy(name, { a: content });
const copies = [copy("page-0000000001", "1"), copy("page-0000000002", "2")];
const rejectedName = "wave.pusher.com/rejected-configmaps";

const object = (pinned: string, rejected?: string) =>
  workloadObject({
    annotations: { "wave.pusher.com/pin-config": "true", [rejectedName]: rejected },
    templateAnnotations: { "wave.pusher.com/config-hash": "x", "wave.pusher.com/pinned": pinned },
    pod: { containers: [{ name: "web", envFrom: [{ configMapRef: { name: "page" } }] }] },
  });
const toPinned = (pinned: string, rejected?: string) => toWorkload(kinds.Deployment, object(pinned, rejected));

/** Runs it for a workload whose pins changed from `before` to `now`, while ConfigMap `page` has this content. Returns the annotation. */
async function rejectedAfter(
  before: string,
  now: string,
  page: Config | Error,
  more: { writtenPins?: string; rejectedBefore?: string } = {},
) {
  const sent: ApiRequest[] = [];
  const workload = toPinned(now);
  const result = await rejectUndone(
    {
      pins: { uid: workload.uid, pinned: before, rejected: more.rejectedBefore },
      writtenPins: more.writtenPins,
    },
    workload,
    {
      client: {
        request: async <T>(request: ApiRequest): Promise<T> => {
          sent.push(request);
          return object(now) as T;
        },
      },
      caches: { lookup: lookupOf() },
      live: {
        lookup: async () => {
          if (page instanceof Error) throw page;
          return lookupOf(page, ...copies);
        },
      },
      policy: { ...defaultPolicy, pinConfig: true },
      leadership: soleLeadership(new AbortController().signal),
    },
  );
  const patch = (sent[0]?.body ?? []) as readonly { op: string; path: string; value?: string }[];
  const written = patch.find(({ op, path }) => op === "add" && path.endsWith("rejected-configmaps"));
  const names = result?.type === "unrestored" ? result.names : undefined;
  return { type: result?.type, written: written?.value, names };
}

const page = (content: string) => configMap("page", { a: content });

it("records what an undo rejects", async () => {
  const { written } = await rejectedAfter(second, first, page("2"));
  expect(written).toMatch(/^page=[0-9a-f]{16}$/);
});

it("does not take pins that Wave wrote for an undo, if the response was lost and the edit was reverted", async () => {
  expect(await rejectedAfter(first, second, page("1"), { writtenPins: second })).toEqual({});
});

it("does not take the rollout of another leader for an undo while a cache is behind", async () => {
  expect(await rejectedAfter(first, second, page("2"))).toEqual({});
});

it("does not forget the undo if the configuration cannot be read", async () => {
  const { type } = await rejectedAfter(second, first, new ConnectionError("broken"));
  expect(type).toBe("unavailable");
});

it("names the ConfigMaps of restored pins whose copies are gone", async () => {
  expect(await rejectedAfter(second, "page=page-0000000009", page("2"))).toEqual({
    type: "unrestored",
    names: ["page"],
  });
});
