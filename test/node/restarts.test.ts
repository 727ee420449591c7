import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { reads } from "../admission/admitted.ts";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { newHash } from "../end-to-end/state.ts";
import {
  admits,
  hashAtCreation,
  helmWave,
  leader,
  makeSystem,
  nginx,
  type Pod,
  podsOf,
  rolledOut,
  system,
  waveContainers,
} from "./installed.ts";
import { describeOnNode } from "./suite.ts";

const ns = "shop";

/** Returns the time at which a Pod became Ready, in whole seconds. */
function readyAt({ status }: Pod): number {
  return Date.parse(status.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime ?? "");
}

/**
 * Returns the lines that say why a create got no hash: the API server could not call the webhook (kube-proxy, or no Pod answered in
 * time), or Wave allowed the request unchanged (a read took too long). Without a line, the webhook answered without a hash.
 */
function causesIn(folder: string): readonly string[] {
  const logs = [join(dirname(folder), "kube-apiserver.log"), ...globSync(join(folder, "log/pods/*/*/*.log"))];
  return logs
    .filter((log) => existsSync(log))
    .flatMap((log) => readFileSync(log, "utf8").split("\n"))
    .filter((line) => /failing open|allowed unchanged/.test(line))
    .map((line) => line.slice(0, 400));
}

describeOnNode("Wave when its Pods end", (node) => {
  let namespace: Namespace;
  const kubectl = (...args: string[]) => node().cluster.kubectl(args);
  /** Starts a workload with this name. Returns a function that edits its configuration and waits for the rollout. */
  const running = async (name: string) => {
    const { cluster } = node();
    await namespace.configMap(name, { a: "0" });
    const [container] = reads(name).containers;
    await namespace.create(workload(name, { ...reads(name), containers: [{ ...container, image: nginx }] }));
    await rolledOut(cluster, ns, `deployment/${name}`);
    const before = await newHash(cluster, ns, "Deployment", name);
    return async () => {
      await namespace.edit("ConfigMap", name, { a: "1" });
      await newHash(cluster, ns, "Deployment", name, before);
    };
  };

  beforeAll(async () => {
    const { cluster } = node();
    namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { a: "0" });
    await makeSystem(cluster);
    await helmWave(cluster, "install");
    await admits(cluster, ns, workload("probe", reads("app")));
    await leader(cluster);
  });

  it.for([
    ["one after another, by a rolling restart", { 20: ["rollout", "restart", "deployment/wave"] }, undefined],
    // Until the node admits Pods again, only the terminating Pods exist. They answer for 10 s, in which the new Pods have to start.
    [
      "both at once, by others that are late",
      { 19: ["cordon", "node-0"], 20: ["delete", "pods", "--all", "--wait=false"] },
      { afterMs: 2_000, act: ["uncordon", "node-0"] },
    ],
  ] as const)(
    "512 workloads that are created while its Pods are replaced %s all get their hash",
    async ([, acts, last]) => {
      const { cluster } = node();
      // Without a ready Pod, kube-proxy uses each terminating Pod, also one of the case before, which ends within the next seconds.
      await until("no Pod of Wave that ends", async () => {
        const pods = await cluster.list(`/api/v1/namespaces/${system}/pods`);
        return pods.length === 2 || undefined;
      });
      const before = (await podsOf(cluster, system)).map(({ metadata }) => metadata.uid);
      const created: Promise<{ readonly at: number; readonly end: number; readonly hash: string | undefined }>[] = [];
      let done = Number.POSITIVE_INFINITY;
      let endingSince = Number.POSITIVE_INFINITY;
      // About 40 a second, until the terminating Pods have ended, 10 s after the last SIGTERM.
      for (let count = 0; count < 512; count++) {
        const act = (acts as Readonly<Record<number, readonly string[]>>)[count];
        if (act !== undefined) {
          done = performance.now();
          endingSince = Date.now();
          await kubectl("-n", system, ...act);
        } else if (last !== undefined && performance.now() >= done + last.afterMs) {
          done = Number.POSITIVE_INFINITY;
          await kubectl("-n", system, ...last.act);
        }
        const at = Date.now();
        const creating = hashAtCreation(cluster, ns, workload(`new-${count}`, reads("app")));
        created.push(creating.then((hash) => ({ at, end: Date.now(), hash })));
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      const without = (await Promise.all(created)).filter(({ hash }) => hash === undefined);
      await rolledOut(cluster, system, "deployment/wave");
      const after = await podsOf(cluster, system);
      expect(after.filter(({ metadata }) => before.includes(metadata.uid))).toEqual([]);
      // On a very busy machine, new Pods may start later than the old Pods end, so that no Pod answers in between. A create that is
      // under way in that time may find no Pod, too: the API server may call the webhook seconds after the create was sent.
      const from = endingSince + 9_000;
      const to = last === undefined ? from : Math.min(...after.map(readyAt)) + 3_000;
      const lost = without.filter(({ at, end }) => end < from || at >= to);
      const seconds = lost.map(({ at }) => (at - endingSince) / 1_000);
      const ready = after.map((pod) => (readyAt(pod) - endingSince) / 1_000);
      const causes = lost.length === 0 ? [] : causesIn(node().folder).slice(-20);
      expect({ seconds, ready, causes }, "creates without a hash, in seconds after Pods were told to end").toEqual({
        seconds: [],
        ready,
        causes: [],
      });
    },
  );

  it("continues in the same containers when the kubelet is killed and starts again", async () => {
    const { cluster, killKubelet } = node();
    const rolls = await running("on");
    const before = await waveContainers(cluster);
    await killKubelet();
    await rolls();
    await rolledOut(cluster, ns, "deployment/on");
    expect(await waveContainers(cluster)).toEqual(before);
  });

  it("has another leader when the leader is killed with its container, which starts again", async () => {
    const { cluster, inside } = node();
    const rolls = await running("over");
    const first = await leader(cluster);
    const id = first.status.containerStatuses?.[0]?.containerID.replace("containerd://", "") ?? "";
    await inside("ctr", "-n", "k8s.io", "task", "kill", "--signal", "SIGKILL", id);
    await rolls();
    expect((await leader(cluster)).metadata.name).not.toBe(first.metadata.name);
    const restarted = await until("the container to be started again", async () => {
      const status = (await podsOf(cluster, system)).find(
        ({ metadata }) => metadata.uid === first.metadata.uid,
      )?.status;
      return status?.containerStatuses?.find(({ ready }) => ready);
    });
    expect(restarted.restartCount).toBe(1);
  });
});
