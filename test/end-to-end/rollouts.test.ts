import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { type ChartAccount, chartAccount } from "../deploy/chart-account.ts";
import { container, makeNamespace, type Namespace, optIn, workload, workloadKinds, workloadPath } from "./objects.ts";
import { newHash, recordedHash, revisionsToBe, settledRevisions, waveEvents } from "./state.ts";

const reads = (name: string, optional = false) => ({
  containers: [{ ...container, envFrom: [{ configMapRef: { name, optional } }] }],
});

describeOnControlPlane("Wave", (cluster) => {
  const ns = "rollouts";
  let namespace: Namespace;
  let other: Namespace;
  let wave: WaveProcess;
  let account: ChartAccount;

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    other = await makeNamespace(cluster, "rollouts-other");
    await namespace.configMap("canary", { a: "0" });
    await namespace.create(workload("canary", reads("canary")));
    account = await chartAccount(cluster, ns, "namespaces={rollouts,rollouts-other}");
    wave = await startWave(["--kubeconfig", account.kubeconfig, "--namespaces=rollouts,rollouts-other"]);
  });
  afterAll(async () => {
    await wave?.stop();
    await account?.remove();
    expect(account?.forbidden()).toEqual([]);
  });

  /** Resolves when Wave has processed all earlier changes, because it has rolled a workload that changed later. */
  const caughtUp = async () => {
    const before = await recordedHash(cluster, ns, "Deployment", "canary");
    await namespace.edit("ConfigMap", "canary", { a: `${before} and on` });
    await newHash(cluster, ns, "Deployment", "canary", before);
  };
  const eventsOf = async (name: string, reason: string) =>
    (await waveEvents(cluster, ns, name)).filter((event) => event.reason === reason);
  const event = (name: string, reason: string) =>
    until(`Event ${reason} on ${name}`, async () => (await eventsOf(name, reason))[0]);

  describe.for(workloadKinds)("with a $kind", ({ kind }) => {
    const name = `kind-${kind.toLowerCase()}`;
    const podUids = async () => {
      const pods = await cluster.list(`/api/v1/namespaces/${ns}/pods?labelSelector=app=${name}`);
      return pods.filter((pod) => pod.metadata.deletionTimestamp === undefined).map((pod) => pod.metadata.uid);
    };

    it("replaces its Pods once when the ConfigMap that they read is edited, and writes an Event", async () => {
      await namespace.configMap(name, { a: "1" });
      await namespace.create(workload(name, reads(name), { kind }));
      const first = await newHash(cluster, ns, kind, name);
      const start = await settledRevisions(cluster, ns, kind, name);
      const [before] = await until("one Pod", async () => {
        const uids = await podUids();
        return uids.length === 1 ? uids : undefined;
      });

      await namespace.edit("ConfigMap", name, { a: "2" });
      await newHash(cluster, ns, kind, name, first);
      await until("a new Pod alone", async () => {
        const uids = await podUids();
        return uids.length === 1 && uids[0] !== before ? true : undefined;
      });
      await caughtUp();
      await revisionsToBe(cluster, ns, kind, name, start + 1);

      const { message, type } = await event(name, "ConfigChanged");
      expect(type).toBe("Normal");
      expect(message).toContain(`ConfigMap "${name}"`);
      expect(message).toContain('"a"');
      const repeats = (await eventsOf(name, "ConfigChanged")).reduce((sum, { count }) => sum + (count ?? 1), 0);
      expect(repeats).toBe(1);
    });
  });

  it("waits for a missing object, names it in one Event, and continues when the object is created", async () => {
    await namespace.create(workload("waits", reads("late")));
    const { message, type } = await event("waits", "ConfigMissing");
    expect(type).toBe("Warning");
    expect(message).toContain('ConfigMap "late"');
    await caughtUp();
    expect(await recordedHash(cluster, ns, "Deployment", "waits")).toBeUndefined();

    await namespace.configMap("late", { a: "1" });
    const first = await newHash(cluster, ns, "Deployment", "waits");
    const start = await settledRevisions(cluster, ns, "Deployment", "waits");
    await namespace.remove("ConfigMap", "late");
    await caughtUp();
    expect(await recordedHash(cluster, ns, "Deployment", "waits")).toBe(first);
    await namespace.configMap("late", { a: "1" });
    await caughtUp();
    expect(await recordedHash(cluster, ns, "Deployment", "waits")).toBe(first);
    await revisionsToBe(cluster, ns, "Deployment", "waits", start);
  });

  it("rolls when an optional object is created and when it is deleted", async () => {
    await namespace.create(workload("optional", reads("perhaps", true)));
    const absent = await newHash(cluster, ns, "Deployment", "optional");
    await namespace.configMap("perhaps", { a: "1" });
    const present = await newHash(cluster, ns, "Deployment", "optional", absent);
    await namespace.remove("ConfigMap", "perhaps");
    expect(await newHash(cluster, ns, "Deployment", "optional", present)).toBe(absent);
  });

  it("does not change a workload that has opted out, and continues when the workload opts in again", async () => {
    await namespace.configMap("leaves", { a: "1" });
    await namespace.create(workload("leaves", reads("leaves"), { kind: "StatefulSet" }));
    const first = await newHash(cluster, ns, "StatefulSet", "leaves");
    const start = await settledRevisions(cluster, ns, "StatefulSet", "leaves");
    const path = workloadPath(ns, "StatefulSet", "leaves");
    await namespace.merge(path, { metadata: { annotations: { "wave.pusher.com/update-on-config-change": null } } });
    await namespace.edit("ConfigMap", "leaves", { a: "2" });
    await caughtUp();
    expect(await recordedHash(cluster, ns, "StatefulSet", "leaves")).toBe(first);
    await namespace.merge(path, { metadata: { annotations: optIn } });
    await newHash(cluster, ns, "StatefulSet", "leaves", first);
    await revisionsToBe(cluster, ns, "StatefulSet", "leaves", start + 1);
  });

  it.for(["True", "yes", "1"])("reports the correct value to a workload whose opt-in is %s", async (value) => {
    const name = `unclear-${value.toLowerCase()}`;
    const annotations = { "wave.pusher.com/update-on-config-change": value };
    await namespace.create(workload(name, { containers: [container] }, { annotations }));
    const { message, type } = await event(name, "InvalidAnnotation");
    expect(type).toBe("Warning");
    expect(message).toContain(`wave.pusher.com/update-on-config-change is "${value}"`);
    expect(message).toContain('Write "true"');
    expect(await recordedHash(cluster, ns, "Deployment", name)).toBeUndefined();
  });

  it("reads an immutable ConfigMap, and rolls when it is replaced", async () => {
    await namespace.configMap("immutable", { a: "1" }, { immutable: true });
    await namespace.create(workload("immutable", reads("immutable")));
    const first = await newHash(cluster, ns, "Deployment", "immutable");
    const start = await settledRevisions(cluster, ns, "Deployment", "immutable");
    await namespace.remove("ConfigMap", "immutable");
    await namespace.configMap("immutable", { a: "2" }, { immutable: true });
    await newHash(cluster, ns, "Deployment", "immutable", first);
    await revisionsToBe(cluster, ns, "Deployment", "immutable", start + 1);
  });

  it("keeps the hash of a workload that is scaled to zero, so that scaling it up starts its Pods once", async () => {
    await namespace.configMap("zero", { a: "1" });
    await namespace.create(workload("zero", reads("zero"), { kind: "StatefulSet" }));
    const first = await newHash(cluster, ns, "StatefulSet", "zero");
    const path = workloadPath(ns, "StatefulSet", "zero");
    await namespace.merge(path, { spec: { replicas: 0 } });
    await namespace.edit("ConfigMap", "zero", { a: "2" });
    const second = await newHash(cluster, ns, "StatefulSet", "zero", first);
    await namespace.merge(path, { spec: { replicas: 1 } });
    await caughtUp();
    expect(await recordedHash(cluster, ns, "StatefulSet", "zero")).toBe(second);
  });

  it("causes no ReplicaSet of a paused Deployment until it is resumed, and then one for all changes", async () => {
    await namespace.configMap("paused", { a: "1" });
    await namespace.create(workload("paused", reads("paused")));
    let hash = await newHash(cluster, ns, "Deployment", "paused");
    const start = await settledRevisions(cluster, ns, "Deployment", "paused");
    await namespace.merge(workloadPath(ns, "Deployment", "paused"), { spec: { paused: true } });
    for (const value of ["2", "3", "4"]) {
      await namespace.edit("ConfigMap", "paused", { a: value });
      hash = await newHash(cluster, ns, "Deployment", "paused", hash);
    }
    await revisionsToBe(cluster, ns, "Deployment", "paused", start);
    await namespace.merge(workloadPath(ns, "Deployment", "paused"), { spec: { paused: false } });
    await revisionsToBe(cluster, ns, "Deployment", "paused", start + 1);
  });

  it("does not replace the Pods of an OnDelete StatefulSet, which change when a client deletes them", async () => {
    await namespace.configMap("on-delete", { a: "1" });
    const spec = { updateStrategy: { type: "OnDelete" } };
    await namespace.create(workload("on-delete", reads("on-delete"), { kind: "StatefulSet", spec }));
    const first = await newHash(cluster, ns, "StatefulSet", "on-delete");
    const start = await settledRevisions(cluster, ns, "StatefulSet", "on-delete");
    const podUid = async () => (await cluster.api("GET", `/api/v1/namespaces/${ns}/pods/on-delete-0`)).metadata.uid;
    const before = await until("the Pod", podUid);
    await namespace.edit("ConfigMap", "on-delete", { a: "2" });
    await newHash(cluster, ns, "StatefulSet", "on-delete", first);
    await revisionsToBe(cluster, ns, "StatefulSet", "on-delete", start + 1);
    expect(await podUid()).toBe(before);
    await cluster.api("DELETE", `/api/v1/namespaces/${ns}/pods/on-delete-0`);
    await until("a new Pod", async () => ((await podUid()) === before ? undefined : true));
  });

  it("forgets a deleted workload, and treats its replacement as a new workload", async () => {
    await namespace.configMap("deleted", { a: "1" });
    await namespace.create(workload("deleted", reads("deleted")));
    const first = await newHash(cluster, ns, "Deployment", "deleted");
    await cluster.api("DELETE", workloadPath(ns, "Deployment", "deleted"));
    await namespace.edit("ConfigMap", "deleted", { a: "2" });
    await caughtUp();
    await namespace.create(workload("deleted", reads("deleted")));
    expect(await newHash(cluster, ns, "Deployment", "deleted")).not.toBe(first);
  });

  it("waits until an object of another namespace is shared with its own namespace, and again while the object is missing", async () => {
    await other.configMap("shared", { a: "1" });
    const annotations = { ...optIn, "wave.pusher.com/extra-configmaps": "rollouts-other/shared" };
    await namespace.configMap("crosses", { a: "1" });
    await namespace.create(workload("crosses", reads("crosses"), { annotations }));
    const { type, message } = await event("crosses", "CrossNamespaceRefused");
    expect(type).toBe("Warning");
    expect(message).toContain("wave.pusher.com/shared-with");
    await other.edit("ConfigMap", "shared", { a: "2" });
    await caughtUp();
    expect(await recordedHash(cluster, ns, "Deployment", "crosses")).toBeUndefined();

    const path = "/api/v1/namespaces/rollouts-other/configmaps/shared";
    const share = () =>
      other.merge(path, { metadata: { annotations: { "wave.pusher.com/shared-with": "a, rollouts" } } });
    await share();
    const granted = await newHash(cluster, ns, "Deployment", "crosses");
    await other.remove("ConfigMap", "shared");
    await caughtUp();
    await other.configMap("shared", { a: "2" });
    await share();
    await caughtUp();
    expect(await recordedHash(cluster, ns, "Deployment", "crosses")).toBe(granted);
    await other.edit("ConfigMap", "shared", { a: "3" });
    await newHash(cluster, ns, "Deployment", "crosses", granted);
  });

  it("reports a forbidden write on the workload, and delays no other workload", async () => {
    // A ValidatingAdmissionPolicy rejects Wave's patch, as any other policy could.
    const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    await cluster.api("POST", policies, {
      metadata: { name: "no-hash" },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["deployments"] },
          ],
        },
        matchConditions: [{ name: "rejected", expression: "object.metadata.name == 'rejected'" }],
        validations: [
          {
            expression: "!has(object.spec.template.metadata.annotations)",
            message: "no annotations here",
          },
        ],
      },
    });
    await cluster.api("POST", `${policies.replace("policies", "policybindings")}`, {
      metadata: { name: "no-hash" },
      spec: { policyName: "no-hash", validationActions: ["Deny"] },
    });
    await namespace.configMap("rejected", { a: "1" });
    await namespace.create(workload("rejected", reads("rejected")));
    const first = await newHash(cluster, ns, "Deployment", "rejected");
    let edits = 1;
    await namespace.edit("ConfigMap", "rejected", { a: `${++edits}` });
    const outcome = await until("the write to be rejected", async () => {
      const [failed] = await eventsOf("rejected", "RolloutRefused");
      if (failed !== undefined) return failed;
      // The policy had no effect yet, so the test triggers another attempt.
      if ((await recordedHash(cluster, ns, "Deployment", "rejected")) !== first) {
        await namespace.merge(workloadPath(ns, "Deployment", "rejected"), {
          spec: { template: { metadata: { annotations: null } } },
        });
        await namespace.edit("ConfigMap", "rejected", { a: `${++edits}` });
      }
      return undefined;
    });
    expect(outcome.type).toBe("Warning");
    expect(outcome.message).toContain("no annotations here");
    await caughtUp();

    await cluster.api("DELETE", `${policies.replace("policies", "policybindings")}/no-hash`);
    await cluster.api("DELETE", `${policies}/no-hash`);
    await newHash(cluster, ns, "Deployment", "rejected", first);
  });
});
