import { expect, it } from "vitest";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { makeNamespace } from "../end-to-end/objects.ts";
import { waveEvents } from "../end-to-end/state.ts";
import { define, hashOf, make, nextHash, type PlayedKind, pathOf, play, playedKinds, writesOf } from "./kinds.ts";

const ns = "kinds-waves";
const names = ["a", "b", "c", "d", "e", "f"];
const rollout = playedKinds.find(({ plural }) => plural === "rollouts") as PlayedKind;

describeOnOwnControlPlane("batches of a kind that is not built in", (cluster) => {
  it("roll in the order of their statuses, and a bad edit reaches only the canary", async () => {
    const namespace = await makeNamespace(cluster, ns);
    await define(cluster, rollout);
    await namespace.configMap("shared", { state: "1" });
    await namespace.configMap("witness", { asked: "0" });
    await make(cluster, rollout, ns, "witness");
    for (const name of names) {
      await make(cluster, rollout, ns, name, { reads: "shared" });
      await play(cluster, rollout, ns, name, 1);
    }
    const hashes = async () => {
      const all = names.map(async (name) => [name, await hashOf(cluster, rollout, ns, name)] as const);
      return new Map(await Promise.all(all));
    };
    const flags = [`--namespaces=${ns}`, `--workload-kinds=${rollout.flag}`, "--settle=0", "--soak=0"];
    const atOnce = 2;
    const wave = await startWave(
      ["--kubeconfig", cluster.kubeconfig, ...flags, `--max-concurrent-rollouts=${atOnce}`],
      { paced: true },
    );
    /** Waits until this many workloads have another hash than these and the others are held, and returns their names. */
    const reached = (before: readonly (string | undefined)[], count: number) =>
      until(`${count} of ${names.length} to be rolled`, async () => {
        const held = `wave_held_workloads{reason="batch"} ${names.length - count}`;
        if (!(await wave.metrics()).split("\n").includes(held)) return undefined;
        const rolled = [...(await hashes())].filter(([, hash]) => !before.includes(hash)).map(([name]) => name);
        return rolled.length === count ? rolled : undefined;
      });
    let asked = 0;
    /** Waits until Wave has rolled another workload for a later change: by then it has handled all earlier changes. */
    const thought = async () => {
      const before = await hashOf(cluster, rollout, ns, "witness");
      await namespace.edit("ConfigMap", "witness", { asked: `${++asked}` });
      await nextHash(cluster, rollout, ns, "witness", before);
    };
    /** Makes a good change and completes one batch after the other. Expects that no batch starts before the previous batch is complete. */
    const goesRound = async (before: readonly (string | undefined)[], first: number) => {
      const done = new Set<string>();
      for (let count = first; ; count = Math.min(names.length, count + atOnce)) {
        const rolled = await reached(before, count);
        for (const name of rolled) if (!done.has(name)) await play(cluster, rollout, ns, name, 0);
        await thought();
        expect((await reached(before, count)).toSorted()).toEqual(rolled.toSorted());
        for (const name of rolled) if (!done.has(name)) await play(cluster, rollout, ns, name, 1);
        for (const name of rolled) done.add(name);
        if (count === names.length) break;
      }
      const all = new Set((await hashes()).values());
      expect(all.size).toBe(1);
      return [...all][0];
    };
    const eventCount = async (name: string, reason: string) =>
      (await waveEvents(cluster, ns, name))
        .filter((event) => event.reason === reason)
        .reduce((sum, { count = 1 }) => sum + count, 0);
    try {
      const first = await goesRound([undefined], 1);
      await namespace.edit("ConfigMap", "shared", { state: "2" });
      const second = await goesRound([first], 1);
      for (const name of names) expect(await writesOf(cluster, rollout, ns, name)).toBe(2);
      for (const name of names)
        await until(`one Event on ${name}`, async () =>
          (await eventCount(name, "ConfigChanged")) === 1 ? true : undefined,
        );

      await namespace.edit("ConfigMap", "shared", { state: "bad" });
      const [canary = ""] = await reached([second], 1);
      const path = pathOf(rollout, ns, canary);
      const { metadata } = await cluster.api("GET", path);
      const status = { phase: "Degraded", observedGeneration: `${metadata.generation}`, availableReplicas: 0 };
      await cluster.api("PATCH", `${path}/status`, { status }, "application/merge-patch+json");
      for (const name of names.filter((each) => each !== canary))
        await until(`${name} to be halted`, async () =>
          (await eventCount(name, "RolloutHalted")) > 0 ? true : undefined,
        );
      expect([...(await hashes())].filter(([, hash]) => hash !== second).map(([name]) => name)).toEqual([canary]);

      await namespace.edit("ConfigMap", "shared", { state: "3" });
      const failed = await hashOf(cluster, rollout, ns, canary);
      // The workload that failed proves nothing: another one is the canary of the good edit.
      const [next] = await reached([second, failed], 1);
      expect(next).not.toBe(canary);
      await goesRound([second, failed], 1);
      for (const name of names)
        expect([name, await writesOf(cluster, rollout, ns, name)]).toEqual([name, name === canary ? 4 : 3]);
    } finally {
      await wave.stop();
    }
  });
});
