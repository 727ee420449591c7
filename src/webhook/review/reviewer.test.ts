import { beforeEach, describe, expect, it } from "vitest";
import type { Deployment } from "#kubernetes";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { MemoryApi } from "../../../test/support/memory-api.ts";
import { planAdmission, toAdmissionObject } from "../../domain/admission/admission.ts";
import { type ConfigObject, toConfig } from "../../domain/config/digest.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { parseRequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import { type Policy, toNamespacePolicy } from "../../domain/policy/policy.ts";
import type { JsonPatchOperation } from "../../domain/syntax/json.ts";
import { ApiError, ConnectionError } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { type Logger, silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { AdmissionRequest } from "../server/review.ts";
import { cannotAffectPods } from "./review-request.ts";
import { createReviewer } from "./reviewer.ts";

const policy: Policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pacing: unpaced };
const hashPath = "/spec/template/metadata/annotations/wave.pusher.com~1config-hash";

/** Returns an opted-in Deployment that reads ConfigMap "page" as a volume and Secret "db" as a variable. */
function deployment(
  change: { annotations?: Record<string, string>; hash?: string; image?: string; replicas?: number } = {},
) {
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      namespace: "shop",
      name: "web",
      annotations: { "wave.pusher.com/update-on-config-change": "true", ...change.annotations },
    },
    spec: {
      replicas: change.replicas ?? 1,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: {
          labels: { app: "web" },
          annotations: { by: "hand", ...(change.hash ? { "wave.pusher.com/config-hash": change.hash } : {}) },
        },
        spec: {
          schedulerName: "default-scheduler",
          volumes: [{ name: "page", configMap: { name: "page" } }],
          containers: [
            {
              name: "web",
              image: change.image ?? "nginx",
              env: [{ name: "PASSWORD", valueFrom: { secretKeyRef: { name: "db", key: "password" } } }],
            },
          ],
        },
      },
    },
  } satisfies Deployment;
  return object;
}

const requestOf = (
  operation: string,
  object: object | undefined,
  oldObject?: object,
  change: Partial<AdmissionRequest> = {},
): AdmissionRequest => ({
  uid: "u",
  operation,
  kind: { group: "apps", version: "v1", kind: "Deployment" },
  namespace: "shop",
  name: "web",
  subResource: "",
  dryRun: false,
  object: { ...object },
  oldObject: oldObject && { ...oldObject },
  ...change,
});

/** Counts its requests. */
class CountingApi extends MemoryApi {
  readonly asked: string[] = [];
  active = 0;
  most = 0;
  fail: ((request: ApiRequest) => Error | undefined) | undefined;

  override async request<T>(request: ApiRequest): Promise<T> {
    this.asked.push(`${request.method} ${request.path}`);
    this.most = Math.max(this.most, ++this.active);
    try {
      const error = this.fail?.(request);
      if (error) throw error;
      return await super.request<T>(request);
    } finally {
      this.active--;
    }
  }
}

const page = "/api/v1/namespaces/shop/configmaps/page";
const db = "/api/v1/namespaces/shop/secrets/db";
const secretValue = Buffer.from("hunter2").toString("base64");
let api: CountingApi;
let metrics: MetricsRegistry;
const clock = new FakeClock();
let cached: Lookup;
const options = (log: Logger) => ({ client: api, policy, cached, clock, log, metrics });
const review = (request: AdmissionRequest) => createReviewer(options(silentLogger))(request);
const create = (namespace: string, plural: string, object: object) =>
  api.request({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/${plural}`,
    body: { metadata: { namespace }, ...object },
  });
const createBoth = async () => {
  await create("shop", "configmaps", { metadata: { namespace: "shop", name: "page" }, data: { index: "hello" } });
  await create("shop", "secrets", { metadata: { namespace: "shop", name: "db" }, data: { password: secretValue } });
  api.asked.length = 0;
};
const hashIn = (patch: readonly JsonPatchOperation[] | undefined) =>
  patch?.find(({ path }) => path === hashPath && path) as { value?: string } | undefined;

beforeEach(() => {
  api = new CountingApi();
  metrics = new MetricsRegistry();
  cached = () => undefined;
});

describe("the reviewer", () => {
  it("uses the annotations of the Namespace for a workload without annotations, and reads nothing for others", async () => {
    await createBoth();
    const { metadata, ...rest } = deployment();
    const silent = { ...rest, metadata: { namespace: metadata.namespace, name: metadata.name } };
    const deciding = (optsIn: boolean) => {
      const namespacePolicyOf: Policy["namespacePolicyOf"] = (name) => ({
        ...toNamespacePolicy({}),
        optsIn: optsIn && name === "shop",
      });
      return createReviewer({ ...options(silentLogger), policy: { ...policy, namespacePolicyOf } });
    };
    expect(await deciding(false)(requestOf("CREATE", silent))).toEqual({ patch: undefined, warnings: [] });
    expect(api.asked).toEqual([]);
    const { patch } = await deciding(true)(requestOf("CREATE", silent));
    expect(hashIn(patch)?.value).toMatch(/^v2:/);
    const dropped = requestOf("UPDATE", silent, {
      ...silent,
      ...deployment({ hash: "v2:old" }),
      metadata: silent.metadata,
    });
    expect(hashIn((await deciding(true)(dropped)).patch)?.value).toBe("v2:old");
    expect((await deciding(false)(dropped)).patch).toBeUndefined();
  });

  it("allows custom resources that are not workloads, and adds the hash when one becomes a workload", async () => {
    await createBoth();
    const wanted = parseRequestedKind("widgets.example.com");
    const widgets = wanted ? [requestedKindRow(wanted, { apiVersion: "example.com/v1", kind: "Widget" })] : [];
    const reviewer = createReviewer({ ...options(silentLogger), kinds: () => widgets });
    const change = { kind: { group: "example.com", version: "v1", kind: "Widget" } };
    const good = deployment();
    const { metadata } = good;
    for (const spec of [undefined, { template: "hush" }, { template: { spec: { containers: "hush" } } }]) {
      const bad = { ...good, spec };
      for (const request of [requestOf("CREATE", bad, undefined, change), requestOf("UPDATE", bad, good, change)]) {
        const { patch, denied, warnings } = await reviewer(request);
        expect([patch, denied]).toEqual([undefined, undefined]);
        expect(warnings.join()).toContain(`widgets.example.com "shop/web" is malformed`);
        expect(warnings.join()).not.toContain("hush");
      }
      expect(hashIn((await reviewer(requestOf("UPDATE", good, bad, change))).patch)?.value).toMatch(/^v2:/);
      const silent = { ...bad, metadata: { namespace: metadata.namespace, name: metadata.name } };
      expect((await reviewer(requestOf("UPDATE", silent, silent, change))).patch).toBeUndefined();
    }
  });

  it("allows workloads without opt-in silently, however many come at the same time", async () => {
    const { metadata, ...rest } = deployment();
    const silent = { ...rest, metadata: { namespace: metadata.namespace, name: metadata.name } };
    const reviewer = createReviewer(options(silentLogger));
    const answers = await Promise.all(Array.from({ length: 200 }, () => reviewer(requestOf("CREATE", silent))));
    expect(answers.flatMap(({ warnings }) => warnings)).toEqual([]);
    expect(metrics.render()).toContain('outcome="ignored"} 200');
  });

  it("adds no scheduling hold while it stops, because perhaps no replica lifts the hold, and keeps existing ones", async () => {
    let isStopping = false;
    const reviewer = createReviewer({ ...options(silentLogger), isStopping: () => isStopping });
    const scheduler = "/spec/template/spec/schedulerName";
    const held = { op: "add", path: scheduler, value: "wave.pusher.com/invalid" };
    expect((await reviewer(requestOf("CREATE", deployment()))).patch).toContainEqual(held);
    isStopping = true;
    expect((await reviewer(requestOf("CREATE", deployment()))).patch ?? []).not.toContainEqual(held);
    const before = deployment({ annotations: { "wave.pusher.com/scheduling-disabled": "" } });
    before.spec.template.spec.schedulerName = "wave.pusher.com/invalid";
    const after = await reviewer(requestOf("UPDATE", { ...deployment({ image: "nginx:2" }) }, before));
    expect(after.patch).toContainEqual(held);
  });

  it("writes the hash of the stored configuration, and reads each object once and all concurrently", async () => {
    await createBoth();
    api.most = 0;
    const { patch, warnings } = await review(requestOf("CREATE", deployment()));
    expect(patch).toEqual([
      { op: "add", path: hashPath, value: expect.stringMatching(/^v2:[0-9a-f]{64}$/) },
      { op: "add", path: "/metadata/annotations/wave.pusher.com~1config-digests", value: expect.any(String) },
    ]);
    expect(warnings).toEqual([]);
    expect(api.asked.sort()).toEqual([`GET ${page}`, `GET ${db}`]);
    expect(api.most).toBe(2);
  });

  it("computes the same hash as the controller for the same configuration", async () => {
    await createBoth();
    const first = hashIn((await review(requestOf("CREATE", deployment()))).patch)?.value;
    const configs = [
      toConfig("ConfigMap", api.objects.get(page) as ConfigObject),
      toConfig("Secret", api.objects.get(db) as ConfigObject),
    ];
    const planned = planAdmission(
      "CREATE",
      toAdmissionObject(kinds.Deployment, deployment()),
      undefined,
      (kind) => configs.find((c) => c.kind === kind),
      policy,
    );
    expect(hashIn(planned.patch)?.value).toBe(first);
    expect((await review(requestOf("CREATE", deployment({ hash: first ?? "" })))).patch).toBeUndefined();
  });

  it("sets the scheduling hold while an object is missing, and names the object", async () => {
    await create("shop", "configmaps", { metadata: { namespace: "shop", name: "page" } });
    const { patch, warnings } = await review(requestOf("CREATE", deployment()));
    expect(patch).toContainEqual({
      op: "add",
      path: "/spec/template/spec/schedulerName",
      value: "wave.pusher.com/invalid",
    });
    expect(warnings.join()).toContain('Secret "db"');
  });

  it("reads nothing for an update that changes neither the pod template nor annotations of Wave", async () => {
    const old = deployment({ hash: "v2:old" });
    const { patch, warnings } = await review(
      requestOf("UPDATE", { ...deployment({ hash: "v2:old", replicas: 5 }) }, old),
    );
    expect({ patch, warnings, asked: api.asked }).toEqual({ patch: undefined, warnings: [], asked: [] });
  });

  it("restores the hash in an update without it, and writes the current hash when the template changes", async () => {
    await createBoth();
    const old = deployment({ hash: "v2:old" });
    expect((await review(requestOf("UPDATE", deployment(), old))).patch).toEqual([
      { op: "add", path: hashPath, value: "v2:old" },
    ]);
    const updated = await review(requestOf("UPDATE", deployment({ hash: "v2:old", image: "nginx:2" }), old));
    expect(hashIn(updated.patch)?.value).toMatch(/^v2:[0-9a-f]{64}$/);
  });

  it.each([["True"], ["false"]])(
    "reads the stored objects for an undo by kubectl to a revision whose opt-in was %s",
    async (optIn) => {
      // The caches of Wave do not have the objects yet.
      await createBoth();
      const managedFields = [{ manager: "kubectl", operation: "Update", time: "2026-01-01T00:00:00Z" }];
      const undone = deployment({
        annotations: { "wave.pusher.com/update-on-config-change": optIn },
        image: "nginx:2",
      });
      const object = { ...undone, metadata: { ...undone.metadata, managedFields } };
      const { patch, warnings } = await review(requestOf("UPDATE", object, deployment({ hash: "v2:old" })));
      expect(JSON.stringify(patch)).toMatch(/"v2:[0-9a-f]{64}"/);
      expect(JSON.stringify(patch)).not.toContain("wave.pusher.com/invalid");
      expect(warnings.join()).not.toContain("Waiting for");
    },
  );

  it("keeps the opt-in of the Namespace in an undo by kubectl", async () => {
    await createBoth();
    const namespacePolicyOf = () => ({ ...toNamespacePolicy({}), optsIn: true });
    const inNamespace = createReviewer({ ...options(silentLogger), policy: { ...policy, namespacePolicyOf } });
    const withoutOptIn = (hash: string, image: string) => {
      const { metadata, ...rest } = deployment({ hash, image });
      return { ...rest, metadata: { namespace: metadata.namespace, name: metadata.name } };
    };
    const undone = withoutOptIn("v2:old", "nginx:1");
    const managedFields = [{ manager: "kubectl", operation: "Update", time: "2026-01-01T00:00:00Z" }];
    const object = { ...undone, metadata: { ...undone.metadata, managedFields } };
    const { patch } = await inNamespace(requestOf("UPDATE", object, withoutOptIn("v2:new", "nginx:2")));
    expect(hashIn(patch)?.value).toMatch(/^v2:[0-9a-f]{64}$/);
  });

  it("reads no object of another namespace that the policy excludes, and does not reveal whether it exists", async () => {
    await createBoth();
    const annotations = { "wave.pusher.com/extra-secrets": "other/key" };
    const absent = await review(requestOf("CREATE", deployment({ annotations })));
    await create("other", "secrets", { metadata: { namespace: "other", name: "key" }, data: {} });
    const present = await review(requestOf("CREATE", deployment({ annotations })));
    expect(absent).toEqual(present);
    expect(absent.warnings).toEqual([
      expect.stringContaining('Secret "other/key": missing, or not shared with this namespace'),
      expect.stringContaining('Waiting for Secret "other/key"'),
    ]);
  });

  it.each([
    [
      "denies the read",
      new ApiError({
        request: "get secrets/db in shop",
        status: 403,
        reason: "Forbidden",
        serverMessage: "wave at 10.0",
      }),
      'Wave does not have permission to read Secrets in namespace "shop"',
    ],
    [
      "fails",
      new ApiError({ request: "get secrets/db in shop", status: 500, reason: "", serverMessage: "etcd at 10.0" }),
      "the API server could not return a Secret to Wave",
    ],
    [
      "does not answer",
      new ConnectionError("get secrets/db in shop: no answer from 10.0"),
      "the API server did not answer Wave in time",
    ],
  ])("allows a workload unchanged with a warning when the API server %s", async (_how, error, text) => {
    await createBoth();
    api.fail = ({ path }) => (path === db ? error : undefined);
    const { patch, warnings } = await review(requestOf("CREATE", deployment()));
    expect(patch).toBeUndefined();
    expect(warnings).toEqual([`Wave did not change this workload yet: ${text}. The controller handles it later.`]);
    expect(metrics.render()).toContain(
      'wave_admission_reviews_total{kind="Deployment",operation="CREATE",outcome="unread"} 1',
    );
  });

  it("leaves reviews to the controller when a namespace has 64 in flight, and answers those of other namespaces", async () => {
    await createBoth();
    const go = Promise.withResolvers<void>();
    api.pause = () => go.promise;
    const reviewer = createReviewer(options(silentLogger));
    const answers = Array.from({ length: 64 }, () => reviewer(requestOf("CREATE", deployment())));
    expect((await reviewer(requestOf("CREATE", deployment()))).warnings).toEqual([
      "Wave did not change this workload yet: too many requests of this namespace at the same time. The controller handles it later.",
    ]);
    const elsewhere = { ...deployment(), metadata: { ...deployment().metadata, namespace: "other" } };
    const other = reviewer(requestOf("CREATE", elsewhere, undefined, { namespace: "other" }));
    go.resolve();
    for (const answer of await Promise.all(answers)) expect(answer.patch).toBeDefined();
    expect((await other).warnings[0]).toContain("Waiting for");
    expect((await reviewer(requestOf("CREATE", deployment()))).patch).toBeDefined();
  });

  it("reads the stored state with a timeout of one second per read, so that two consecutive reads fit", async () => {
    await createBoth();
    const seen: ApiRequest[] = [];
    api.fail = (request) => void seen.push(request);
    await review(requestOf("CREATE", deployment()));
    // A resourceVersion would let the API server answer from its cache.
    const now = { method: "GET", timeoutMs: 1000 };
    expect(seen).toEqual([
      { ...now, path: page, digestsOf: "ConfigMap" },
      { ...now, path: db, digestsOf: "Secret" },
    ]);
  });

  it("sees what was written before the request, also while other reviews read", async () => {
    await createBoth();
    const old = hashIn((await review(requestOf("CREATE", deployment()))).patch)?.value;
    let answered = 0;
    api.pause = async () => {
      answered++;
      for (let turn = 0; turn < 20; turn++) await null;
    };
    const reviewer = createReviewer(options(silentLogger));
    const early = reviewer(requestOf("CREATE", deployment()));
    // Both objects have been read, and the responses are in flight.
    while (answered < 4) await null;
    const metadata = { namespace: "shop", name: "page", uid: "u", resourceVersion: "9" };
    api.objects.set(page, { metadata, data: { index: "new" } } as KubeObject);
    const late = hashIn((await reviewer(requestOf("CREATE", deployment()))).patch)?.value;
    expect(hashIn((await early).patch)?.value).toBe(old);
    expect(late).not.toBe(old);
    expect(late).toBe(hashIn((await review(requestOf("CREATE", deployment()))).patch)?.value);
  });

  it.each([
    [
      "another kind",
      requestOf("CREATE", { kind: "Job" }, undefined, { kind: { group: "batch", version: "v1", kind: "Job" } }),
      "CREATE Job",
    ],
    ["another operation", requestOf("DELETE", undefined, deployment()), "DELETE Deployment"],
    [
      "a subresource",
      requestOf("UPDATE", deployment(), deployment(), { subResource: "scale" }),
      "UPDATE Deployment scale",
    ],
  ])("allows %s with a warning about the rules of the webhook", async (_what, request, text) => {
    expect(await review(request)).toEqual({
      patch: undefined,
      warnings: [`Wave's webhook does not review "${text}". Check the rules of its MutatingWebhookConfiguration.`],
    });
  });

  it("never quotes a value", async () => {
    await createBoth();
    const lines: string[] = [];
    const note = (...what: readonly unknown[]) => void lines.push(JSON.stringify(what));
    const log = { debug: note, info: note, warn: note, error: note };
    const reviewer = createReviewer(options(log));
    for (const object of [deployment(), deployment({ annotations: { "wave.pusher.com/nonsense": "x" } })]) {
      lines.push(JSON.stringify(await reviewer(requestOf("CREATE", object))));
    }
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.join() + metrics.render()).not.toMatch(new RegExp(`hello|hunter2|${secretValue}`));
  });
});

describe("an update that cannot affect Pods", () => {
  const old = deployment({ hash: "v2:old" });
  const schedulingHeld = structuredClone(old);
  schedulingHeld.spec.template.spec.schedulerName = "wave.pusher.com/invalid";

  it.each([
    ["replicas", deployment({ hash: "v2:old", replicas: 2 }), old, true],
    ["an annotation of another controller", deployment({ hash: "v2:old", annotations: { a: "b" } }), old, true],
    ["an annotation for Wave", deployment({ hash: "v2:old", annotations: { "wave.pusher.com/x": "b" } }), old, false],
    ["the image", deployment({ hash: "v2:old", image: "b" }), old, false],
    ["the hash", deployment({ hash: "v2:new" }), old, false],
    ["the hash, to none", deployment(), old, false],
    ["nothing where there is no hash", deployment(), deployment(), false],
    ["nothing where it has a scheduling hold", schedulingHeld, schedulingHeld, false],
  ])("changes %s: %#", (_what, object, oldObject, concernsNone) => {
    expect(cannotAffectPods(kinds.Deployment, object, oldObject)).toBe(concernsNone);
  });

  it("is never patched by planAdmission, whatever the configuration", () => {
    const changes = [
      deployment({ hash: "v2:old", replicas: 2 }),
      deployment({ hash: "v2:old", annotations: { a: "b" } }),
    ];
    const some = toConfig("ConfigMap", { metadata: { namespace: "shop", name: "page" }, data: { a: "1" } });
    for (const object of changes) {
      for (const lookup of [() => undefined, () => some]) {
        for (const schedulingHold of [true, false]) {
          const plan = planAdmission(
            "UPDATE",
            toAdmissionObject(kinds.Deployment, object),
            toAdmissionObject(kinds.Deployment, old),
            lookup,
            { ...policy, schedulingHold },
          );
          expect(plan.patch).toBeUndefined();
        }
      }
    }
  });
});
