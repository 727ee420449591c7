import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, readsAll, workload } from "../../../test/support/domain/objects.ts";
import { formatRejected, rejectionDigest, withRejected } from "./pinned-lookup.ts";

const copy = (content: string) =>
  configMap("page-0000000001", { a: content }, { labels: { "wave.pusher.com/pinned-copy": "true" } });
const policy = { ...defaultPolicy, pinConfig: true };

/** Returns what a workload reads whose live content, "2", is rejected, and whose copy has this content. */
function readBy(content: string, annotations: Readonly<Record<string, string>> = {}) {
  const lookup = lookupOf(configMap("page", { a: "2" }), copy(content));
  const pod = readsAll("ConfigMap", "page");
  const rejected = formatRejected(new Map([["page", rejectionDigest(workload({ pod }), lookup, "page")]]));
  const undone = workload({
    pod,
    annotations: {
      "wave.pusher.com/pin-config": "true",
      "wave.pusher.com/rejected-configmaps": rejected,
      ...annotations,
    },
    templateAnnotations: { "wave.pusher.com/pinned": "page=page-0000000001" },
  });
  const { kept, lookup: found, unusable } = withRejected(undone, lookup, policy);
  return { kept: [...kept], unusable, digests: found("ConfigMap", "default", "page")?.digests };
}

const digestsOf = (content: string) => configMap("page", { a: content }).digests;

describe("withRejected", () => {
  it("finds the copy in place of rejected content", () => {
    expect(readBy("1")).toEqual({ kept: ["page"], unusable: [], digests: digestsOf("1") });
  });

  it("reports no rollback if the copy has the rejected content", () => {
    expect(readBy("2")).toEqual({ kept: [], unusable: [], digests: digestsOf("2") });
  });

  it("finds the live content of a ConfigMap that Pods read live", () => {
    const annotations = { "wave.pusher.com/live-configmaps": "page" };
    expect(readBy("1", annotations)).toEqual({ kept: [], unusable: [], digests: digestsOf("2") });
  });
});
