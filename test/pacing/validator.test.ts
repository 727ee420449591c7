import { execFile } from "node:child_process";
import { expect, it } from "vitest";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, wave as waveCommand } from "../control-plane/wave-process.ts";
import { makeNamespace, workloadPath } from "../end-to-end/objects.ts";
import { hashOf, makeApplications } from "./applications.ts";

type Event = Awaited<ReturnType<Cluster["list"]>>[number] & {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
};

/** Deployments that read one ConfigMap, a validator `check` of it, and a Wave that rolls them. */
async function scene(cluster: Cluster, ns: string, count: number) {
  const namespace = await makeNamespace(cluster, ns);
  const applications = await makeApplications(cluster, namespace, count);
  await applications.addValidator("check");
  const start = () => startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`], { paced: true });
  let wave = await start();
  const first = await applications.onlyHash();
  await applications.complete();
  const events = async () => (await cluster.list(`/api/v1/namespaces/${ns}/events`)) as readonly Event[];
  const readers = async () => (await applications.list()).filter(({ metadata }) => metadata.name !== "check");
  return {
    ...{ namespace, applications, first, events },
    /** Returns the readers whose pod template Wave has written. */
    rolled: async () => (await readers()).filter((each) => hashOf(each) !== first),
    /** Resolves with the texts of Events with this reason about the object, when there are at least `times`. */
    told: (reason: string, name: string, times = 1) =>
      until(`${times} ${reason} of ${name}`, async () => {
        const found = (await events()).filter((each) => each.reason === reason && each.involvedObject.name === name);
        return found.length >= times ? found.map(({ message }) => message) : undefined;
      }),
    run: (...words: readonly string[]): Promise<string> =>
      new Promise((resolve) =>
        execFile(waveCommand, [...words, "-n", ns, "--kubeconfig", cluster.kubeconfig], (_, out, errors) =>
          resolve(out + errors),
        ),
      ),
    metric: (line: string) =>
      until(line, async () => ((await wave.metrics()).includes(`\n${line}\n`) ? true : undefined)),
    /** Kills Wave and starts another one. */
    restart: async () => {
      await wave.stop("SIGKILL");
      wave = await start();
    },
    end: async () => {
      await wave.stop();
      await applications.stop();
    },
  };
}

describeOnControlPlane("a change of a ConfigMap that a validator reads", (cluster) => {
  it("reaches no reader if the validator refuses it, also after a restart, and the next good edit reaches all", async () => {
    const ns = "validator-refuses";
    const { namespace, first, rolled, told, run, metric, restart, end, events, applications } = await scene(
      cluster,
      ns,
      60,
    );
    try {
      await namespace.edit("ConfigMap", "shared", { state: "bad", edit: "1" });
      const [onObject = ""] = await told("RolloutHalted", "shared");
      expect(onObject).toMatch(
        /^Rollout halted: validator Deployment "check" failed after ConfigMap "shared" changed: container "app" exited with code 3\. Run: kubectl logs check-\S+ -c app -n validator-refuses\. /,
      );
      const [onReader = ""] = await told("RolloutHalted", "app-007");
      expect(onReader).toContain(onObject.slice(0, 100));
      const [onValidator = ""] = await told("RolloutFailed", "check");
      expect(onValidator).toMatch(/container "app" of Pod "check-\S+" exited with code 3 \(kubectl logs check-/);
      expect(await run("explain", "deployment/app-007")).toContain('validator Deployment "check" failed');
      expect(await run("list")).toMatch(/app-007 +held .*validator/);
      expect(await run("list")).toMatch(/check +failed/);

      await restart();
      await metric("wave_rollouts_halted 1");
      await namespace.edit("ConfigMap", "shared", { state: "bad", edit: "2" });
      await until("another Pod of the validator that exits", async () => {
        const failed = (await events()).filter(({ reason }) => reason === "RolloutFailed");
        const pods = failed.map(({ message }) => /Pod "(\S+)"/.exec(message)?.[1]);
        return new Set(pods).size > 1 ? true : undefined;
      });
      expect(await rolled()).toEqual([]);

      const edited = performance.now();
      await namespace.edit("ConfigMap", "shared", { state: "good", edit: "3" });
      await applications.onlyHash(first);
      expect(performance.now() - edited).toBeLessThan(40_000);
      await metric("wave_rollouts_halted 0");
      expect((await events()).map(({ reason }) => reason)).not.toContain("NotValidated");
    } finally {
      await end();
    }
  });

  it("waits for a validator that is applied with it, and reaches no reader if that validator refuses it", async () => {
    const ns = "validator-applied";
    const { namespace, first, rolled, told, end, applications } = await scene(cluster, ns, 3);
    const image = (name: string) =>
      namespace.merge(workloadPath(ns, "Deployment", "check"), {
        spec: {
          template: {
            spec: { containers: [{ name: "app", image: name, envFrom: [{ configMapRef: { name: "shared" } }] }] },
          },
        },
      });
    try {
      await Promise.all([namespace.edit("ConfigMap", "shared", { state: "bad", edit: "1" }), image("nginx:2")]);
      const [text] = await told("RolloutHalted", "shared");
      expect(text).toContain('validator Deployment "check" failed');
      expect(await rolled()).toEqual([]);
      await Promise.all([namespace.edit("ConfigMap", "shared", { state: "good", edit: "2" }), image("nginx:3")]);
      await until("all readers", async () => ((await rolled()).length === 3 ? true : undefined));
      await applications.complete();
      expect(first).not.toBe("none");
    } finally {
      await end();
    }
  });

  it("goes on with a Warning if its validator cannot check it, and is halted if the Namespace requires one", async () => {
    const ns = "validator-unusable";
    const { namespace, rolled, told, end, applications } = await scene(cluster, ns, 3);
    const check = workloadPath(ns, "Deployment", "check");
    const require = (value: string | null) =>
      cluster.api(
        "PATCH",
        `/api/v1/namespaces/${ns}`,
        { metadata: { annotations: { "wave.pusher.com/validator-required": value } } },
        "application/merge-patch+json",
      );
    try {
      await require("true");
      await namespace.merge(check, { spec: { paused: true } });
      await namespace.edit("ConfigMap", "shared", { edit: "1" });
      const [halted] = await told("RolloutHalted", "shared");
      expect(halted).toMatch(
        /^Rollout halted: validator Deployment "check" cannot check the change of ConfigMap "shared": it is paused\./,
      );
      expect(await rolled()).toEqual([]);
      await require(null);
      expect((await told("NotValidated", "shared"))[0]).toBe(
        'The last change is not validated: validator Deployment "check" cannot check it, because it is paused. The change continues with the canary. Repair the validator.',
      );
      await until("all readers", async () => ((await rolled()).length === 3 ? true : undefined));
      await namespace.merge(check, { spec: { paused: false } });
      await applications.free();

      // The new Pod of the validator finds no room, and neither does that of the canary.
      await applications.closeNode(true);
      await namespace.edit("ConfigMap", "shared", { edit: "2" });
      const texts = await told("NotValidated", "shared", 2);
      expect(texts.join()).toContain("it is stuck (Unschedulable)");
      await applications.closeNode(false);
      await until("one hash", async () => ((await applications.hashes()).size === 1 ? true : undefined));
      await applications.complete();
    } finally {
      await end();
    }
  });
});
