import { expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf, pinnedCopy, workload } from "../../../test/support/domain/objects.ts";
import type { ConfigObject } from "../../domain/config/digest.ts";
import { formatRejected, rejectionDigest } from "../../domain/pinning/rejections.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";
import { storePins } from "./write-plan.ts";

const labels = { "wave.pusher.com/pinned-copy": "true" };
const source = (name: string, a: string) => configMap(name, { a });

/** A workload with a refused content of `page`, whose ConfigMaps have another content now. */
function undone() {
  const fields = {
    pod: { containers: [{ name: "web", envFrom: ["page", "other"].map((name) => ({ configMapRef: { name } })) }] },
    templateAnnotations: {
      "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}`,
      "wave.pusher.com/pinned": "other=other-0000000001,page=page-0000000001",
    },
  };
  const lookup = lookupOf(
    source("page", "2"),
    source("other", "2"),
    pinnedCopy("page-0000000001", { a: "1" }),
    pinnedCopy("other-0000000001", { a: "1" }),
  );
  const rejected = formatRejected(new Map([["page", rejectionDigest(workload(fields), lookup, "page")]]));
  const pins = { "wave.pusher.com/pin-config": "true", "wave.pusher.com/rejected-configmaps": rejected };
  return { lookup, rejected, of: workload({ ...fields, annotations: pins }) };
}

/** Stores the pins of {@link undone}. The answer to a write is `status`; `other` has this value on the server. */
function stored(status: number, other = "2", leads = new AbortController()) {
  const { lookup, of } = undone();
  const policy = { ...defaultPolicy, pinConfig: true };
  const copyOfPage = { metadata: { namespace: "default", name: "page-0000000001", labels }, data: { a: "1" } };
  const objects: Readonly<Record<string, ConfigObject>> = {
    page: { metadata: { namespace: "default", name: "page" }, data: { a: "2" } },
    other: { metadata: { namespace: "default", name: "other" }, data: { a: other } },
    "page-0000000001": { ...copyOfPage, immutable: true },
  };
  return storePins(of, planRollout(of, lookup, policy), lookup, {
    client: {
      request: async <T>({ method, path }: ApiRequest): Promise<T> => {
        const found = objects[path.split("/").at(-1) ?? ""];
        if (method === "PATCH" || (method === "GET" && found !== undefined)) return found as T;
        const answer = method === "POST" ? status : 404;
        const reason = { 403: "Forbidden", 404: "NotFound" }[answer] ?? "InternalError";
        throw new ApiError({ request: "", status: answer, reason, serverMessage: "", details: undefined });
      },
    },
    caches: { workload: () => of, kinds: () => [], copiesIn: () => [] },
    policy,
    leadership: { ...soleLeadership(leads.signal), abort: leads.signal },
  });
}

it("keeps what is rejected, and its copy, if the copy of another ConfigMap is refused", async () => {
  expect(await stored(403)).toMatchObject({
    type: "pins",
    pins: { pinned: "page=page-0000000001", rejected: undone().rejected },
    unpinned: expect.stringContaining("Not pinned completely"),
  });
});

it("writes no pins if the content on the server differs from the plan, or the server cannot answer", async () => {
  expect(await stored(403, "3")).toMatchObject({ type: "conflict" });
  expect(await stored(500)).toMatchObject({ type: "unavailable" });
  const ended = new AbortController();
  ended.abort();
  expect(await stored(500, "2", ended)).toEqual({ type: "stopped" });
});
