import { beforeAll, expect, it } from "vitest";
import { invalidScheduler, oldFinalizer } from "../../src/domain/model/scheduling-hold.ts";
import { pinnedCopyLabel, unusedSince } from "../../src/domain/references/annotations.ts";
import { configurations, helm, reads } from "../admission/admitted.ts";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, namespaceAs, workload, workloadKinds } from "../end-to-end/objects.ts";
import { chart } from "./rendered.ts";

const [release, ns] = ["guarded", "guarded-shop"];
const json = "application/json-patch+json";

/** An owner reference to an object that does not exist. */
const owner = (apiVersion: string, kind: string, more = {}) => ({
  apiVersion,
  kind,
  name: "gone",
  uid: "gone",
  ...more,
});

/** Creates a StatefulSet with one pinned Pod, and waits for the Pod. A Pod with a selector of a node stays pending. */
async function createSet(cluster: Cluster, name: string, nodeSelector: Record<string, string>): Promise<void> {
  const set = workload(name, { ...reads("none", true), nodeSelector }, { kind: "StatefulSet" });
  const annotations = { "wave.pusher.com/pinned": "page=page-0123456789" };
  Object.assign(set.spec.template.metadata, { annotations });
  await namespaceAs(cluster, ns).create(set);
  const { disktype } = nodeSelector;
  const wanted = disktype === undefined ? "condition=Ready" : "create";
  await cluster.kubectl(["-n", ns, "wait", `pod/${name}-0`, "--for=create", "--timeout=60s"]);
  await cluster.kubectl(["-n", ns, "wait", `pod/${name}-0`, `--for=${wanted}`, "--timeout=60s"]);
}

describeOnControlPlane("a client with the token of Wave, with accountPolicy enabled,", (cluster) => {
  let token: string;
  const asWave = (args: readonly string[], stdin?: string) => cluster.kubectl([`--token=${token}`, ...args], stdin);
  const patch = (resource: string, operations: readonly object[], namespace = ns) =>
    asWave(["-n", namespace, "patch", resource, "--type=json", "-p", JSON.stringify(operations)]);
  const patchAsAdmin = (resource: string, operations: readonly object[]) =>
    cluster.kubectl(["-n", ns, "patch", resource, "--type=json", "-p", JSON.stringify(operations)]);

  beforeAll(async () => {
    const namespace = await makeNamespace(cluster, ns);
    const values = `webhooks.enabled=true,pinConfig.enabled=true,accountPolicy.enabled=true,namespaces={${ns}},ownerReferences=true,compatibility={wave,sap,stakater}`;
    const system = `${release}-system`;
    await helm(cluster, ["install", release, chart, "-n", system, "--create-namespace", "--set", values]);
    token = (await cluster.kubectl(["-n", system, "create", "token", release])).trim();
    const annotations = { "wave.pusher.com/scheduling-disabled": "" };
    for (const { kind } of workloadKinds) await namespace.create(workload("app", reads("none", true), { kind }));
    const paused = { annotations: { "deployment.reloader.stakater.com/paused-at": "2026-01-01T00:00:00Z" } };
    await namespace.create(workload("paused", reads("none"), paused));
    await patchAsAdmin("deployment/paused", [{ op: "add", path: "/spec/paused", value: true }]);
    await namespace.create(
      workload("scheduling-held", { ...reads("none"), schedulerName: invalidScheduler }, { annotations }),
    );
    // A policy takes effect a moment after its creation.
    const image = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "evil" }];
    await until("the policy to be in force", () =>
      asWave([
        "-n",
        ns,
        "patch",
        "deployment/app",
        "--type=json",
        "--dry-run=server",
        "-p",
        JSON.stringify(image),
      ]).then(
        () => undefined,
        () => true,
      ),
    );
  });

  const hash = "/spec/template/metadata/annotations";
  const sapHash = "pod-reloader.cs.sap.com~1config-hash";
  const newHash = [{ op: "add", path: hash, value: { "wave.pusher.com/config-hash": "v2:1" } }];
  const annotation = (name: string) => `/metadata/annotations/wave.pusher.com~1${name}`;
  it.for([
    ["the hash", "deployment/app", newHash],
    ["the hash of a StatefulSet", "statefulset/app", newHash],
    ["the hash in the annotation of SAP", "deployment/app", [{ op: "add", path: `${hash}/${sapHash}`, value: "v2:1" }]],
    ["the hash of a DaemonSet, whose generation the API server updates", "daemonset/app", newHash],
    [
      "the number of consecutive rollouts",
      "deployment/app",
      [{ op: "add", path: annotation("consecutive-rollouts"), value: "2" }],
    ],
    [
      "that it was rolled while it was not complete",
      "deployment/app",
      [{ op: "add", path: annotation("rolled-incomplete"), value: "never" }],
    ],
    [
      "digests of what it reads",
      "deployment/app",
      [{ op: "add", path: annotation("config-digests"), value: "1a2b x" }],
    ],
    ["why it was rolled", "deployment/app", [{ op: "add", path: annotation("cause"), value: "1a2b x" }]],
    ["that it is held", "deployment/app", [{ op: "add", path: annotation("state"), value: "held" }]],
    ["the pins", "deployment/app", [{ op: "add", path: `${hash}/wave.pusher.com~1pinned`, value: "a=a-0123456789" }]],
    [
      "rejected ConfigMaps",
      "deployment/app",
      [{ op: "add", path: annotation("rejected-configmaps"), value: "a=0123456789" }],
    ],
    ["its finalizer", "deployment/app", [{ op: "add", path: "/metadata/finalizers", value: [oldFinalizer] }]],
    ["a recorded configuration", "deployment/app", [{ op: "add", path: annotation("recorded-config"), value: "v2:1" }]],
    [
      "the versions of SecretProviderClasses",
      "deployment/app",
      [{ op: "add", path: annotation("secret-provider-classes"), value: "a 1 b" }],
    ],
    [
      "the resume of a Deployment that Reloader left paused",
      "deployment/paused",
      [
        { op: "remove", path: "/spec/paused" },
        { op: "remove", path: "/metadata/annotations/deployment.reloader.stakater.com~1paused-at" },
      ],
    ],
    [
      "the end of a scheduling hold",
      "deployment/scheduling-held",
      [
        { op: "remove", path: "/spec/template/spec/schedulerName" },
        { op: "remove", path: annotation("scheduling-disabled") },
      ],
    ],
  ] as const)("writes %s", async ([, name, operations]) => {
    await expect(patch(name, operations)).resolves.toContain("patched");
  });

  const spec = "/spec/template/spec";
  const generation = "/metadata/annotations/deprecated.daemonset.template.generation";
  it.for([
    ["an image", [{ op: "replace", path: `${spec}/containers/0/image`, value: "evil" }], "spec of a pod template"],
    [
      "a container",
      [{ op: "add", path: `${spec}/containers/-`, value: { name: "x", image: "evil" } }],
      "spec of a pod template",
    ],
    [
      "a service account",
      [{ op: "add", path: `${spec}/serviceAccountName`, value: "admin" }],
      "spec of a pod template",
    ],
    ["host namespaces", [{ op: "add", path: `${spec}/hostPID`, value: true }], "spec of a pod template"],
    ["without a field", [{ op: "remove", path: `${spec}/containers/0/envFrom` }], "spec of a pod template"],
    ["a scheduler of its choice", [{ op: "replace", path: `${spec}/schedulerName`, value: "evil" }], "scheduler"],
    ["a pause", [{ op: "add", path: "/spec/paused", value: true }], "pause"],
    ["replicas", [{ op: "replace", path: "/spec/replicas", value: 50 }], "spec of a workload, except"],
    ["another annotation of the template", [{ op: "add", path: `${hash}/sidecar`, value: "evil" }], "config-hash"],
    ["a label of the template", [{ op: "add", path: "/spec/template/metadata/labels/x", value: "y" }], "metadata"],
    ["a label", [{ op: "add", path: "/metadata/labels", value: { x: "y" } }], "metadata"],
    ["an owner", [{ op: "add", path: "/metadata/ownerReferences", value: [owner("v1", "ConfigMap")] }], "metadata"],
    ["another finalizer", [{ op: "add", path: "/metadata/finalizers", value: ["a.example/b"] }], "finalizer"],
    ["an opt-in", [{ op: "replace", path: annotation("update-on-config-change"), value: "false" }], "annotations"],
    ["the generation annotation of DaemonSets", [{ op: "add", path: generation, value: "7" }], "annotations"],
    ["another annotation", [{ op: "add", path: "/metadata/annotations/x", value: "y" }], "annotations"],
  ] as const)("cannot write %s", async ([, operations, why]) => {
    await expect(patch("deployment/app", operations)).rejects.toThrow(new RegExp(`Wave may (only|not) .*${why}`));
  });

  it("changes only the caBundle and the path of its own webhook", async () => {
    const path = `${configurations}/${release}-webhook`;
    const resource = `mutatingwebhookconfiguration/${release}-webhook`;
    const at = (field: string, value: unknown) => [{ op: "add", path: `/webhooks/0/${field}`, value }];
    await expect(patch(resource, at("clientConfig/service/path", "/mutate/secret"))).resolves.toContain("patched");
    for (const [field, value] of [
      ["clientConfig/service/namespace", "evil"],
      ["failurePolicy", "Fail"],
      ["rules/0/resources", ["*"]],
      ["matchConditions", []],
    ] as const) {
      await expect(patch(resource, at(field, value))).rejects.toThrow(
        "Wave may only change the caBundle and the path of its webhooks",
      );
    }
    // Other clients may change it.
    await cluster.api("PATCH", path, at("timeoutSeconds", 3), json);
  });

  it.for([[ns], ["kube-system"]])("cannot create or delete a Job in %s", async ([namespace = ns]) => {
    const create = asWave(["-n", namespace, "create", "job", "stolen", "--image=evil", "--dry-run=server"]);
    await expect(create).rejects.toThrow('cannot create resource "jobs"');
    const remove = asWave(["-n", namespace, "delete", "job", "any", "--dry-run=server"]);
    await expect(remove).rejects.toThrow('cannot delete resource "jobs"');
  });

  it("changes only the owners of a ConfigMap, and only so that it is not garbage-collected", async () => {
    const namespace = await cluster.api("GET", `/api/v1/namespaces/${ns}`);
    const app = await cluster.api("GET", `/apis/apps/v1/namespaces/${ns}/deployments/app`);
    const of = ({ metadata: { name, uid } }: AnyObject) => ({
      name,
      uid,
      controller: false,
      blockOwnerDeletion: false,
    });
    const anchor = { apiVersion: "v1", kind: "Namespace", ...of(namespace) };
    const workloadOwner = { apiVersion: "apps/v1", kind: "Deployment", ...of(app) };
    await cluster.api("POST", `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: "owned" }, data: { a: "1" } });
    const owners = (...value: readonly object[]) => [{ op: "add", path: "/metadata/ownerReferences", value }];
    for (const [operations, why] of [
      [[{ op: "add", path: "/data/a", value: "2" }], "only change the owner references of a ConfigMap"],
      [[{ op: "add", path: "/metadata/labels", value: { a: "b" } }], "only change the owner references of a ConfigMap"],
      [owners({ ...workloadOwner, controller: true }, anchor), "not change the controller of"],
      [owners(workloadOwner), "only add workloads and the Namespace"],
      [owners(workloadOwner, { ...anchor, uid: "forged" }), "only add workloads and the Namespace"],
      [owners({ ...anchor, name: "forged" }), "only add workloads and the Namespace"],
      [owners(workloadOwner, { ...anchor, name: "forged" }), "only add workloads and the Namespace"],
      [owners({ ...anchor, kind: "Node" }), "only add workloads and the Namespace"],
      [owners({ ...anchor, kind: "Node" }, anchor), "only add workloads and the Namespace"],
      [owners(owner("v1", "ConfigMap"), anchor), "only add workloads and the Namespace"],
    ] as const) {
      await expect(patch("configmap/owned", operations)).rejects.toThrow(`Wave may ${why}`);
    }
    await expect(patch("configmap/owned", owners(workloadOwner, anchor))).resolves.toContain("patched");
    await expect(patch("configmap/owned", owners(workloadOwner))).rejects.toThrow("while a workload is still an owner");
    const none = [{ op: "remove", path: "/metadata/ownerReferences" }];
    await expect(patch("configmap/owned", none)).resolves.toContain("patched");

    const other = await cluster.api("POST", `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: "other" } });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", ...of(other) }];
    await cluster.api("POST", `/api/v1/namespaces/${ns}/configmaps`, {
      metadata: { name: "of-others", ownerReferences },
    });
    await expect(patch("configmap/of-others", none)).rejects.toThrow(
      "Wave may only remove workloads and the Namespace",
    );
  });

  it("creates, changes and deletes only pinned copies, and leaves their content alone", async () => {
    const copy = {
      metadata: { name: "copy", labels: { [pinnedCopyLabel]: "true" } },
      immutable: true,
      data: { a: "1" },
    };
    const create = (object: object) => asWave(["-n", ns, "create", "-f", "-"], JSON.stringify(object));
    const configMap = { apiVersion: "v1", kind: "ConfigMap" };
    for (const other of [
      { ...copy, immutable: false },
      { ...copy, metadata: { name: "copy" } },
      { ...copy, metadata: { name: "copy", labels: { [pinnedCopyLabel]: "false" } } },
    ]) {
      await expect(create({ ...configMap, ...other })).rejects.toThrow(
        "Wave may only create ConfigMaps that are pinned",
      );
    }
    await expect(create({ ...configMap, ...copy })).resolves.toContain("created");
    const at = (path: string, value: unknown) => [{ op: "add", path: `/metadata/${path}`, value }];
    await expect(patch("configmap/copy", at("labels", {}))).rejects.toThrow(
      /Wave may only change the owner references/,
    );
    await expect(patch("configmap/copy", at("finalizers", ["a.example/b"]))).rejects.toThrow(/Wave may only change/);
    await expect(patch("configmap/copy", at("annotations", { [unusedSince]: "x" }))).resolves.toContain("patched");
    await expect(patch("configmap/copy", at("ownerReferences", [owner("apps/v1", "Deployment")]))).resolves.toContain(
      "patched",
    );
    await cluster.api("POST", `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: "page" } });
    await expect(asWave(["-n", ns, "delete", "configmap", "page"])).rejects.toThrow("Wave may only delete ConfigMaps");
    await expect(patch("configmap/page", at("labels", copy.metadata.labels))).rejects.toThrow(/Wave may only change/);
    await expect(asWave(["-n", ns, "delete", "configmap", "copy"])).resolves.toContain("deleted");
  });

  it("deletes only Pods with the scheduling hold or for which a StatefulSet waits, and creates only its own Secrets", async () => {
    for (const [name, schedulerName] of [
      ["held", invalidScheduler],
      ["running", "default-scheduler"],
    ]) {
      const containers = [{ name: "app", image: "nginx" }];
      const pod = { metadata: { name }, spec: { schedulerName, containers } };
      await cluster.api("POST", `/api/v1/namespaces/${ns}/pods`, pod);
    }
    await expect(asWave(["-n", ns, "delete", "pod/held", "--wait=false"])).resolves.toContain("deleted");
    await expect(asWave(["-n", ns, "delete", "pod/running", "--wait=false"])).rejects.toThrow(
      "Wave may only delete Pods",
    );
    await createSet(cluster, "stuck", { disktype: "none" });
    await createSet(cluster, "ready", {});
    const dryRun = (pod: string) => asWave(["-n", ns, "delete", pod, "--dry-run=server"]);
    await expect(dryRun("pod/stuck-0")).resolves.toContain("deleted");
    await expect(dryRun("pod/ready-0")).rejects.toThrow("Wave may only delete Pods");
    await cluster.kubectl(["-n", ns, "annotate", "pod/stuck-0", "wave.pusher.com/pinned-"]);
    await expect(dryRun("pod/stuck-0")).rejects.toThrow("Wave may only delete Pods");
    const create = (name: string) => asWave(["-n", `${release}-system`, "create", "secret", "generic", name]);
    await expect(create("stolen")).rejects.toThrow("Wave may only create the Secrets");
    await expect(create(`${release}-webhook-authority`)).resolves.toContain("created");
  });
});
