import { expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  pinnedCopy,
  secret,
  workload,
} from "../../../test/support/domain/objects.ts";
import { rejectionDigest } from "../pinning/rejections.ts";

const policy = { ...defaultPolicy, pinConfig: true };
const pod = {
  containers: [{ name: "web", envFrom: [{ configMapRef: { name: "page" } }, { secretRef: { name: "db" } }] }],
};
const copy = pinnedCopy("page-0000000001", { a: "1" });
const [page, db] = [configMap("page", { a: "2" }), secret("db", { password: "new" })];

/** A workload that an undo returned to page 1. The hash of that revision includes an earlier Secret. */
function undone(annotations: Record<string, string> = {}) {
  return workload({
    pod,
    annotations: { "wave.pusher.com/pin-config": "true", ...annotations },
    templateAnnotations: {
      "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}`,
      "wave.pusher.com/pinned": "page=page-0000000001",
    },
  });
}
const digest = rejectionDigest(undone(), lookupOf(page, copy, db), "page");

it("names what an undo does not restore, if a rollout follows the undo", () => {
  const workload = undone({ "wave.pusher.com/rejected-configmaps": `page=${digest}` });
  expect(planRollout(workload, lookupOf(page, copy, db), policy)).toMatchObject({
    outcome: "roll",
    reason: 'the configuration changed after its hash was recorded, and a rollback does not restore Secret "db"',
  });
});

it("adds nothing if nothing was rolled back", () => {
  expect(planRollout(undone(), lookupOf(page, copy, db), policy)).toMatchObject({
    outcome: "roll",
    reason: "the configuration changed after its hash was recorded",
  });
});
