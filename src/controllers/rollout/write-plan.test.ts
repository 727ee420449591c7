import { expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, pinnedCopy, workload } from "../../../test/support/domain/objects.ts";
import type { ConfigObject } from "../../domain/config/digest.ts";
import { formatRejected, rejectionDigest } from "../../domain/pinning/rejections.ts";
import { planRollout } from "../../domain/plan/plan.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";
import { storePins } from "./write-plan.ts";

const labels = { "wave.pusher.com/pinned-copy": "true" };
const source = (name: string, a: string) => configMap(name, { a });

it("keeps what is rejected, and its copy, if the copy of another ConfigMap is refused", async () => {
  const fields = {
    pod: { containers: [{ name: "web", envFrom: ["page", "other"].map((name) => ({ configMapRef: { name } })) }] },
    templateAnnotations: {
      "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}`,
      "wave.pusher.com/pinned": "other=other-0000000001,page=page-0000000001",
    },
  };
  const copyOfPage = { metadata: { namespace: "default", name: "page-0000000001", labels }, data: { a: "1" } };
  const lookup = lookupOf(
    source("page", "2"),
    source("other", "2"),
    pinnedCopy("page-0000000001", { a: "1" }),
    pinnedCopy("other-0000000001", { a: "1" }),
  );
  const rejected = formatRejected(new Map([["page", rejectionDigest(workload(fields), lookup, "page")]]));
  const undone = workload({
    ...fields,
    annotations: {
      "wave.pusher.com/pin-config": "true",
      "wave.pusher.com/rejected-configmaps": rejected,
    },
  });
  const policy = { ...defaultPolicy, pinConfig: true };
  const stored: Readonly<Record<string, ConfigObject>> = {
    page: { metadata: { namespace: "default", name: "page" }, data: { a: "2" } },
    other: { metadata: { namespace: "default", name: "other" }, data: { a: "2" } },
    "page-0000000001": { ...copyOfPage, immutable: true },
  };
  const result = await storePins(undone, planRollout(undone, lookup, policy), lookup, {
    client: {
      request: async <T>({ method, path }: ApiRequest): Promise<T> => {
        const found = stored[path.split("/").at(-1) ?? ""];
        const [status, reason] = method === "POST" ? [403, "Forbidden"] : [404, "NotFound"];
        if (method === "PATCH" || (method === "GET" && found !== undefined)) return found as T;
        throw new ApiError({ request: "", status, reason, serverMessage: "", details: undefined });
      },
    },
    caches: { workload: () => undone, kinds: () => [], copiesIn: () => [] },
    policy,
    leadership: soleLeadership(new AbortController().signal),
  });
  expect(result).toMatchObject({
    type: "pins",
    pins: { pinned: "page=page-0000000001", rejected },
    unpinned: expect.stringContaining("Not pinned completely"),
  });
});
