import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace } from "../end-to-end/objects.ts";
import { waveEvents } from "../end-to-end/state.ts";
import { define, hashOf, make, nextHash, playedKinds, undefine, writesOf } from "./kinds.ts";

const ns = "kinds";

describeOnControlPlane("kinds of workload besides the built-in ones", (cluster) => {
  let namespace: Namespace;
  let wave: WaveProcess;

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    for (const kind of playedKinds) await define(cluster, kind);
    const kinds = playedKinds.map(({ flag }) => flag).join(",");
    const flags = [`--namespaces=${ns}`, `--workload-kinds=${kinds},nothing.example.com`];
    wave = await startWave(["--kubeconfig", cluster.kubeconfig, ...flags]);
  });
  afterAll(async () => {
    await wave?.stop();
    for (const kind of playedKinds) await undefine(cluster, kind);
  });

  describe.for(playedKinds)("$id", (kind) => {
    const name = kind.plural;

    it("is rolled when the ConfigMap that its Pods read is edited, once, and says so", async () => {
      await namespace.configMap(name, { a: "1", b: "1" });
      await make(cluster, kind, ns, name);
      const first = await nextHash(cluster, kind, ns, name);
      await namespace.edit("ConfigMap", name, { a: "2" });
      const second = await nextHash(cluster, kind, ns, name, first);
      const [told] = await until("an Event", async () => {
        const events = await waveEvents(cluster, ns, name);
        const changed = events.filter(({ reason }) => reason === "ConfigChanged");
        return changed.length > 0 ? changed : undefined;
      });
      expect(told?.involvedObject).toMatchObject({ kind: kind.kind, apiVersion: kind.apiVersion, name });
      expect(told?.message).toContain(`ConfigMap "${name}" changed (key "a")`);
      await namespace.edit("ConfigMap", name, { a: "1" });
      expect(await nextHash(cluster, kind, ns, name, second)).toBe(first);
      expect(await writesOf(cluster, kind, ns, name)).toBe(3);
      expect(await wave.metrics()).toContain(`wave_rollouts_total{kind="${kind.id}",outcome="written"} 3`);
    });

    it("waits for what it requires", async () => {
      const waiting = `${name}-waits`;
      await make(cluster, kind, ns, waiting);
      await until("an Event", async () =>
        (await waveEvents(cluster, ns, waiting)).find(({ reason }) => reason === "ConfigMissing"),
      );
      expect(await hashOf(cluster, kind, ns, waiting)).toBeUndefined();
      await namespace.configMap(waiting, { a: "1" });
      await nextHash(cluster, kind, ns, waiting);
    });
  });

  it("that are not there are told of once, and hold up nobody", async () => {
    const lines = wave.log().split("\n");
    expect(lines.filter((line) => line.includes("a kind of workload is not there"))).toHaveLength(1);
    expect(await wave.readyz()).not.toContain("nothing.example.com");
  });
});
