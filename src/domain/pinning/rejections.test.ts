import { describe, expect, it } from "vitest";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  pinnedCopy,
  readsAll,
  workload,
} from "../../../test/support/domain/objects.ts";
import { rulesFor } from "../policy/rules.ts";
import { carriedRejections, formatRejected, rejectionDigest, stillRejected, withRejected } from "./rejections.ts";

const copy = (content: string) => pinnedCopy("page-0000000001", { a: content });
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
  const { kept, lookup: found, unusable } = withRejected(undone, lookup, rulesFor(undone, policy));
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

describe("a rejection whose content is not live any more", () => {
  const pod = readsAll("ConfigMap", "page");
  const lookupWith = (live: string) => lookupOf(configMap("page", { a: live }), copy("1"));
  const rejected = `page=${rejectionDigest(workload({ pod }), lookupWith("2"), "page")}`;
  const undone = workload({
    pod,
    annotations: { "wave.pusher.com/rejected-configmaps": rejected },
    templateAnnotations: { "wave.pusher.com/pinned": "page=page-0000000001" },
  });
  const carried = (live: string, rollsLive: boolean) =>
    carriedRejections(undone, [rejected], undone, lookupWith(live), () => rollsLive).rejected;

  it("ends with a rollout of other content", () => {
    expect(carried("3", true)).toBeUndefined();
    expect(stillRejected(undone, lookupWith("3"))).toBeUndefined();
  });

  it("stays if the request rolls nothing, for example the release of a hold", () => {
    expect(carried("3", false)).toBe(rejected);
  });

  it("stays if the Pods read the live content already, so that a rollout brings no other content", () => {
    expect(carried("1", true)).toBe(rejected);
    expect(stillRejected(undone, lookupWith("1"))).toBe(rejected);
  });
});
