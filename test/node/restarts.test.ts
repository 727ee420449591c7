import { beforeAll, expect, it } from "vitest";
import { reads } from "../admission/admitted.ts";
import type { AnyObject } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { newHash, recordedHash } from "../end-to-end/state.ts";
import {
  admits,
  hashAtCreation,
  helmWave,
  makeSystem,
  nginx,
  podsOf,
  rolledOut,
  system,
  waveContainers,
} from "./installed.ts";
import { describeOnNode } from "./suite.ts";

const ns = "shop";

describeOnNode("what becomes of Wave when its Pods end", (node) => {
  let namespace: Namespace;
  const kubectl = (...args: string[]) => node().cluster.kubectl(args);
  /** Edits the configuration of the workload "app", and waits for the roll. */
  let edits = 0;
  const editIsRolled = async () => {
    const { cluster } = node();
    const before = await recordedHash(cluster, ns, "Deployment", "app");
    await namespace.edit("ConfigMap", "app", { a: String(++edits) });
    await newHash(cluster, ns, "Deployment", "app", before);
  };

  beforeAll(async () => {
    const { cluster } = node();
    namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { a: "0" });
    await makeSystem(cluster);
    await helmWave(cluster, "install");
    await admits(cluster, ns, workload("probe", reads("app")));
    await namespace.create(workload("app", { containers: [{ ...reads("app").containers[0], image: nginx }] }));
  });

  it.for([
    ["one after another, by a rolling restart", ["rollout", "restart", "deployment/wave"]],
    ["both at once", ["delete", "pods", "--all", "--wait=false"]],
  ] as const)("512 workloads that are created while its Pods are replaced %s all get their hash", async ([, act]) => {
    const { cluster } = node();
    const before = (await podsOf(cluster, system)).map(({ metadata }) => metadata.uid);
    const created: Promise<string | undefined>[] = [];
    // About 40 a second: until those that end have ended, 10 s after the last of them was told to.
    for (let count = 0; count < 512; count++) {
      if (count === 20) await kubectl("-n", system, ...act);
      created.push(hashAtCreation(cluster, ns, workload(`new-${count}`, reads("app"))));
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    const hashes = await Promise.all(created);
    expect(hashes.filter((hash) => hash === undefined)).toHaveLength(0);
    await rolledOut(cluster, system, "deployment/wave");
    const after = (await podsOf(cluster, system)).map(({ metadata }) => metadata.uid);
    expect(after.filter((uid) => before.includes(uid))).toEqual([]);
    await editIsRolled();
  });

  it("it goes on, in the same containers, when the kubelet is killed and starts again", async () => {
    const { cluster, killKubelet } = node();
    const before = await waveContainers(cluster);
    await killKubelet();
    await editIsRolled();
    await rolledOut(cluster, ns, "deployment/app");
    expect(await waveContainers(cluster)).toEqual(before);
  });

  it("another replica leads when the leader is killed with its container, which starts again", async () => {
    const { cluster, inside } = node();
    const leader = await leaderOf();
    const pod = (await podsOf(cluster, system)).find(({ metadata }) => leader.startsWith(metadata.name));
    const id = pod?.status.containerStatuses?.[0]?.containerID.replace("containerd://", "") ?? "";
    await inside("ctr", "-n", "k8s.io", "task", "kill", "--signal", "SIGKILL", id);
    await editIsRolled();
    expect(await leaderOf()).not.toBe(leader);
    const restarted = await until("the container to be started again", async () => {
      const status = (await podsOf(cluster, system)).find(({ metadata }) => metadata.uid === pod?.metadata.uid)?.status;
      return status?.containerStatuses?.find(({ ready }) => ready);
    });
    expect(restarted.restartCount).toBe(1);
  });

  async function leaderOf(): Promise<string> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${system}/leases/wave`;
    return (await node().cluster.api<AnyObject & { spec: { holderIdentity: string } }>("GET", path)).spec
      .holderIdentity;
  }
});
