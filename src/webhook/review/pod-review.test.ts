import { describe, expect, it } from "vitest";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { pinnedPodCases } from "../../../test/support/domain/pinned-pods.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { pinnedAnnotation } from "../../domain/references/annotations.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { AdmissionRequest } from "../server/review.ts";
import { createReviewer } from "./reviewer.ts";

/** Returns a request with the Pod of the first case, which reads ConfigMap "web" as a volume. */
function request(change: Partial<AdmissionRequest> = {}, pinned?: string): AdmissionRequest {
  const annotations = pinned === undefined ? undefined : { [pinnedAnnotation]: pinned };
  return {
    uid: "u",
    operation: "CREATE",
    kind: { group: "", version: "v1", kind: "Pod" },
    namespace: "shop",
    name: "",
    subResource: "",
    dryRun: false,
    object: { metadata: { annotations }, spec: pinnedPodCases[0]?.created },
    oldObject: undefined,
    ...change,
  };
}

function setUp() {
  const metrics = new MetricsRegistry();
  const api = new MemoryApi();
  const policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pacing: unpaced } as const;
  const cached = () => undefined;
  const review = createReviewer({ client: api, policy, cached, clock: new FakeClock(), log: silentLogger, metrics });
  return { review, metrics };
}

describe("a review of a new Pod", () => {
  it("points the Pod at its copies and counts it", async () => {
    const { review, metrics } = setUp();
    expect(await review(request({}, "web=web-0123456789"))).toEqual({
      patch: [{ op: "replace", path: "/spec/volumes/1/configMap/name", value: "web-0123456789" }],
      warnings: [],
    });
    expect(metrics.render()).toContain(
      'wave_admission_reviews_total{kind="Pod",operation="CREATE",outcome="pointed"} 1',
    );
  });

  it.each([
    ["without pins", undefined],
    ["with malformed pins", "web=web-0123456789,"],
    ["that reads no pinned ConfigMap", "other=other-0123456789"],
  ])("allows a Pod %s unchanged", async (_, pinned) => {
    expect(await setUp().review(request({}, pinned))).toEqual({ patch: undefined, warnings: [] });
  });

  it.each<Partial<AdmissionRequest>>([
    { operation: "UPDATE" },
    { subResource: "ephemeralcontainers", operation: "UPDATE" },
    { kind: { group: "example.com", version: "v1", kind: "Pod" } },
    { object: undefined },
  ])("changes nothing in %j", async (change) => {
    const answer = await setUp().review(request(change, "web=web-0123456789"));
    expect(answer.patch).toBeUndefined();
    expect(answer.denied).toBeUndefined();
  });
});
