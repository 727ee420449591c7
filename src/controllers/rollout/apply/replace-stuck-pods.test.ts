import { expect, it } from "vitest";
import { defaultPolicy, type WorkloadFixture, workloadObject } from "../../../../test/support/domain/objects.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { ApiRequest } from "../../../kube/http/api-request.ts";
import { soleLeadership } from "../../../runtime/write-permits.ts";
import { mayHaveStuckPods, replaceStuckPods } from "./replace-stuck-pods.ts";

const policy = { ...defaultPolicy, pinConfig: true };
const [good, failed, fixed] = ["page=page-0000000001", "page=page-0000000002", "page=page-0000000003"];
const rejected = { "wave.pusher.com/rejected-configmaps": "page=0123456789abcdef" };
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

/** The StatefulSet `web` with three Pods, after a rollout by Wave to `pinned` at second 60, whose first Pod Kubernetes has not created yet. */
function statefulSet(pinned: string, annotations: object, change: WorkloadFixture = {}) {
  const hash = `v2:${"1".repeat(64)}`;
  return workloadObject({
    kind: "StatefulSet",
    annotations: {
      ...{ "wave.pusher.com/pin-config": "true", "wave.pusher.com/on-failure": "return" },
      "wave.pusher.com/previous-pins": `${hash} ${good}`,
      ...annotations,
    },
    metadata: { managedFields: [written("wave", 60), written("kubectl-edit", 30)] },
    templateAnnotations: { "wave.pusher.com/config-hash": hash, "wave.pusher.com/pinned": pinned },
    status: {
      ...{ updateRevision: "fixed", currentRevision: "good", updatedReplicas: 0, observedGeneration: 9 },
      ...{ replicas: 3, availableReplicas: 2 },
    },
    ...change,
    spec: { replicas: 3, ...change.spec },
  });
}

function written(manager: string, seconds: number) {
  const template = { "f:metadata": { "f:annotations": { [`f:${manager}`]: {} } } };
  const hash = { "f:metadata": { "f:annotations": { "f:wave.pusher.com/config-hash": {} } } };
  const fieldsV1 = { "f:spec": { "f:template": manager === "wave" ? hash : template } };
  return { manager, operation: "Update", apiVersion: "apps/v1", time: at(seconds), fieldsType: "FieldsV1", fieldsV1 };
}

/** Returns a Pod with these pins: not ready since they started, unless `status` says otherwise. */
function pod(name: string, pins: string, status: object = {}) {
  const annotations = { "wave.pusher.com/pinned": pins };
  const uid = workloadObject().metadata?.uid;
  const metadata = { name, namespace: "default", annotations, ownerReferences: [{ controller: true, uid }] };
  const conditions = [{ type: "Ready", status: "False", lastTransitionTime: at(40) }];
  return { metadata, status: { startTime: at(40), conditions, ...status } };
}

type Owner = ReturnType<typeof statefulSet>;

async function deleted(stored: Owner, pods: readonly ReturnType<typeof pod>[], cached = stored, permits = 9) {
  let left = permits;
  const names: string[] = [];
  const queries: unknown[] = [];
  const client = {
    request: async <T>({ method, path, query }: ApiRequest): Promise<T> => {
      if (method === "DELETE") names.push(path.split("/").at(-1) ?? "");
      else if (path.endsWith("/pods")) queries.push(query?.labelSelector);
      return (path.endsWith("/pods") ? { items: pods } : stored) as T;
    },
  };
  const leadership = soleLeadership(new AbortController().signal);
  const takePermit = () => left-- > 0;
  const workload = toWorkload(kinds.StatefulSet, cached);
  if (!mayHaveStuckPods(workload, { policy })) return { names, queries };
  expect(await replaceStuckPods(workload, { client, policy, leadership }, takePermit)).toBe(undefined);
  return { names, queries };
}

it("takes a write permit for each Pod, and deletes no Pod without one", async () => {
  const pods = [pod("web-1", failed), pod("web-2", failed)];
  expect((await deleted(statefulSet(fixed, {}), pods, undefined, 1)).names).toEqual(["web-1"]);
  expect((await deleted(statefulSet(fixed, {}), pods)).names).toEqual(["web-1", "web-2"]);
});

const ready = { conditions: [{ type: "Ready", status: "True", lastTransitionTime: at(41) }] };
const lost = { conditions: [{ type: "Ready", status: "False", lastTransitionTime: at(55) }] };
const crashes = { ...lost, containerStatuses: [{ name: "web", restartCount: 1 }] };
const byOther = { metadata: { managedFields: [written("wave", 60), written("kubectl-edit", 70)] } };
const current = { updateRevision: "fixed", currentRevision: "fixed", observedGeneration: 9, replicas: 3 };
it.each<[string, Owner, ReturnType<typeof pod>, boolean]>([
  ["a Pod that the rollout before left", statefulSet(fixed, {}), pod("web-2", failed), true],
  ["such a Pod after an edit back to the good content", statefulSet(good, {}), pod("web-2", failed), true],
  ["such a Pod after a return", statefulSet(good, rejected), pod("web-2", failed, lost), true],
  ["such a Pod whose container crashes", statefulSet(fixed, {}), pod("web-2", failed, crashes), true],
  ["no such Pod that is ready", statefulSet(fixed, {}), pod("web-2", failed, ready), false],
  ["no such Pod that was ready and may be again", statefulSet(fixed, {}), pod("web-2", failed, lost), false],
  ["no Pod of the last complete rollout", statefulSet(fixed, {}), pod("web-1", good, crashes), false],
  ["no Pod with the pins of the pod template", statefulSet(fixed, {}), pod("web-1", fixed), false],
  ["no Pod of another owner", { ...statefulSet(fixed, {}) }, { ...pod("web-2", failed), ...foreign() }, false],
  ["no Pod after another client's rollout", statefulSet(fixed, {}, byOther), pod("web-2", failed), false],
  [
    "no Pod if the last complete rollout is not known",
    statefulSet(fixed, { "wave.pusher.com/previous-pins": undefined }),
    pod("web-2", failed),
    false,
  ],
  [
    "no Pod with on-failure: halt",
    statefulSet(fixed, { "wave.pusher.com/on-failure": "halt" }),
    pod("web-2", failed),
    false,
  ],
  [
    "no Pod of a StatefulSet that does not wait",
    statefulSet(fixed, {}, { spec: { podManagementPolicy: "Parallel" } }),
    pod("web-2", failed),
    false,
  ],
  [
    "no Pod of a complete rollout",
    statefulSet(fixed, {}, { status: { ...current, availableReplicas: 3 } }),
    pod("web-2", failed),
    false,
  ],
])("deletes %s", async (_, stored, of, isDeleted) => {
  expect((await deleted(stored, [of])).names).toEqual(isDeleted ? [of.metadata.name] : []);
  // The cache may be behind.
  expect((await deleted(stored, [of], statefulSet(good, rejected))).names).toEqual(isDeleted ? [of.metadata.name] : []);
});

it("lists no Pod that Kubernetes would create again as it is", async () => {
  const rolls = await deleted(statefulSet(fixed, {}), []);
  expect(rolls.queries).toEqual(["app=web,controller-revision-hash,controller-revision-hash!=fixed"]);
  const spec = { updateStrategy: { rollingUpdate: { partition: 1 } } };
  const partly = await deleted(statefulSet(fixed, {}, { spec }), []);
  expect(partly.queries).toEqual([`${rolls.queries[0]},controller-revision-hash!=good`]);
});

function foreign() {
  const { metadata } = pod("web-2", failed);
  return { metadata: { ...metadata, ownerReferences: [{ controller: true, uid: "other" }] } };
}
