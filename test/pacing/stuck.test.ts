import { execFile } from "node:child_process";
import { expect, it } from "vitest";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, wave as waveCommand } from "../control-plane/wave-process.ts";
import { makeNamespace } from "../end-to-end/objects.ts";
import { hashOf, makeApplications } from "./applications.ts";

/** Three Deployments that read one object, a Wave that rolls them, and a node without room for a new Pod. */
async function scene(cluster: Cluster, ns: string, envFrom: object) {
  const namespace = await makeNamespace(cluster, ns);
  await namespace.secret("login", { password: "first" });
  const applications = await makeApplications(cluster, namespace, 3, {}, 0, [envFrom]);
  const args = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, "--soak=1s", "--rollout-timeout=40s"];
  const wave = await startWave(args, { paced: true });
  const first = await applications.onlyHash();
  await applications.complete();
  await applications.closeNode(true);
  const end = async () => {
    await wave.stop();
    await applications.stop();
  };
  const rolled = async () => (await applications.list()).filter((each) => hashOf(each) !== first);
  return { namespace, applications, wave, first, rolled, end };
}

describeOnControlPlane("a canary whose Pod finds no room", (cluster) => {
  const run = (ns: string, ...words: readonly string[]): Promise<string> =>
    new Promise((resolve) =>
      execFile(waveCommand, [...words, "-n", ns, "--kubeconfig", cluster.kubeconfig], (_, out, errors) =>
        resolve(out + errors),
      ),
    );
  type Event = Awaited<ReturnType<Cluster["list"]>>[number] & { readonly reason: string; readonly message: string };
  const events = async (ns: string) => (await cluster.list(`/api/v1/namespaces/${ns}/events`)) as readonly Event[];
  const reasons = async (ns: string) => (await events(ns)).map(({ reason }) => reason);

  it("is stuck and not failed, with the words of the scheduler, and the others wait for it", async () => {
    const ns = "stuck-waits";
    const { namespace, applications, wave, first, rolled, end } = await scene(cluster, ns, {
      configMapRef: { name: "shared" },
    });
    try {
      await namespace.edit("ConfigMap", "shared", { edit: "1" });
      const stuck = await until("the Event", async () =>
        (await events(ns)).find(({ reason }) => reason === "RolloutStuck"),
      );
      expect(stuck.message).toMatch(
        /^Rollout stuck: Pod "app-.*" does not start \(Unschedulable: 0\/\d+ nodes are available: /,
      );
      expect(await wave.metrics()).toContain("\nwave_rollouts_stuck 1\n");
      const [canary, ...others] = await rolled();
      expect(others).toEqual([]);
      const name = canary?.metadata.name ?? "";
      expect(await run(ns, "list")).toMatch(new RegExp(`${name} +stuck .*Unschedulable`));
      const waiting = (await applications.list()).find((each) => each.metadata.name !== name)?.metadata.name;
      await until("the hold", async () =>
        (await run(ns, "explain", `deployment/${waiting}`)).includes(`is stuck (Unschedulable)`) ? true : undefined,
      );
      // The rollout is over its time, and nothing has failed.
      const late = Date.now() + 45_000;
      await until("the end of --rollout-timeout", async () => (Date.now() > late ? true : undefined), 60_000);
      expect(await wave.metrics()).toContain("\nwave_rollouts_failed 0\n");
      expect(await rolled()).toHaveLength(1);
      await applications.closeNode(false);
      await applications.onlyHash(first);
      expect(await reasons(ns)).not.toContain("RolloutHalted");
      expect(await reasons(ns)).not.toContain("RolloutFailed");
      await until("the end", async () => ((await reasons(ns)).includes("RolloutResolved") ? true : undefined));
    } finally {
      await end();
    }
  });

  it("is stuck by a volume that is not attached, which only an Event shows", async () => {
    const ns = "stuck-volume";
    const { namespace, applications, rolled, first, end } = await scene(cluster, ns, {
      configMapRef: { name: "shared" },
    });
    try {
      await applications.closeNode(false);
      // The kubelet of this test starts no Pod with this configuration.
      await namespace.edit("ConfigMap", "shared", { state: "bad" });
      const [canary] = await until("the canary", async () => ((await rolled()).length > 0 ? rolled() : undefined));
      const app = canary?.metadata.name;
      const pod = await until("its Pod", async () => {
        const pods = (await cluster.list(
          `/api/v1/namespaces/${ns}/pods?labelSelector=app=${app}`,
        )) as readonly (AnyObject & {
          readonly status: { readonly conditions?: readonly { readonly type: string }[] };
        })[];
        return pods.find(({ status }) => !status.conditions?.some(({ type }) => type === "Ready"));
      });
      const now = new Date().toISOString();
      const { name, uid } = pod.metadata;
      await cluster.api("POST", `/api/v1/namespaces/${ns}/events`, {
        ...{ apiVersion: "v1", kind: "Event", metadata: { name: "attach", namespace: ns }, type: "Warning" },
        ...{ reason: "FailedAttachVolume", firstTimestamp: now, lastTimestamp: now, count: 1 },
        message: 'Multi-Attach error for volume "data" Volume is already exclusively attached to one node.',
        involvedObject: { apiVersion: "v1", kind: "Pod", name, namespace: ns, uid },
      });
      const { message } = await until("the Event", async () =>
        (await events(ns)).find(({ reason }) => reason === "RolloutStuck"),
      );
      expect(message).toContain("(FailedAttachVolume: Multi-Attach error for volume");
      expect(await run(ns, "list")).toMatch(new RegExp(`${app} +stuck .*FailedAttachVolume`));
      await namespace.edit("ConfigMap", "shared", { state: "good", edit: "2" });
      await applications.onlyHash(first);
    } finally {
      await end();
    }
  });

  it("does not keep the others on an old credential: the next one follows after --rollout-timeout", async () => {
    const ns = "stuck-secret";
    const { namespace, applications, rolled, first, end } = await scene(cluster, ns, { secretRef: { name: "login" } });
    try {
      await namespace.edit("Secret", "login", { password: "second" });
      await until("the next workload", async () => ((await rolled()).length === 2 ? true : undefined), 120_000);
      expect(await reasons(ns)).not.toContain("RolloutHalted");
      await applications.closeNode(false);
      await applications.onlyHash(first);
    } finally {
      await end();
    }
  });
});
