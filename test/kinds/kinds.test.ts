import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { invalidScheduler } from "../../src/domain/model/scheduling-hold.ts";
import { startScene } from "../admission/admitted.ts";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave as wavePath } from "../control-plane/wave-process.ts";
import { chartAccount } from "../deploy/chart-account.ts";
import { makeNamespace, type Namespace } from "../end-to-end/objects.ts";
import { waveEvents } from "../end-to-end/state.ts";
import {
  define,
  hashOf,
  laterKind,
  make,
  nextHash,
  pathOf,
  play,
  playedKinds,
  podSpecOf,
  undefine,
  writesOf,
} from "./kinds.ts";

const ns = "kinds";
const run = promisify(execFile);

describeOnOwnControlPlane("workload kinds that are not built in", (cluster) => {
  let namespace: Namespace;
  let wave: WaveProcess;

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    for (const kind of playedKinds) await define(cluster, kind);
    const kinds = playedKinds.map(({ flag }) => flag).join(",");
    const flags = [`--namespaces=${ns}`, `--workload-kinds=${kinds},${laterKind.flag}`];
    wave = await startWave(["--kubeconfig", cluster.kubeconfig, ...flags]);
  });
  afterAll(async () => {
    await wave?.stop();
  });

  describe.for(playedKinds)("$id", (kind) => {
    const name = kind.plural;
    // Commands and waits depend only on the path of the pod template.
    const differs = inject("everything") || kind === playedKinds.find(({ template }) => template === kind.template);

    it("is rolled once when the ConfigMap that its Pods read is edited, and reports it", async () => {
      await namespace.configMap(name, { a: "1", b: "1" });
      await make(cluster, kind, ns, name);
      const first = await nextHash(cluster, kind, ns, name);
      await namespace.edit("ConfigMap", name, { a: "2" });
      const second = await nextHash(cluster, kind, ns, name, first);
      const [event] = await until("an Event", async () => {
        const events = await waveEvents(cluster, ns, name);
        const changed = events.filter(({ reason }) => reason === "ConfigChanged");
        return changed.length > 0 ? changed : undefined;
      });
      expect(event?.involvedObject).toMatchObject({ kind: kind.kind, apiVersion: kind.apiVersion, name });
      expect(event?.message).toContain(`ConfigMap "${name}" changed (key "a")`);
      await namespace.edit("ConfigMap", name, { a: "1" });
      expect(await nextHash(cluster, kind, ns, name, second)).toBe(first);
      expect(await writesOf(cluster, kind, ns, name)).toBe(3);
      const counted = async () =>
        (await wave.metrics()).split("\n").filter((line) => line.startsWith(`wave_outcomes_total{kind="${kind.id}"`));
      await expect.poll(counted).toContain(`wave_outcomes_total{kind="${kind.id}",outcome="roll"} 2`);
    });

    it.skipIf(!differs)("is visible to commands that read, and to commands that hold", async () => {
      const options = { env: { ...process.env, KUBECONFIG: cluster.kubeconfig } };
      const command = async (...args: string[]) =>
        (await run(wavePath, [...args, "-n", ns, `--workload-kinds=${kind.flag}`], options)).stdout;
      const looked = `${name}-looked`;
      await namespace.configMap(looked, { a: "1" });
      await make(cluster, kind, ns, looked);
      const first = await nextHash(cluster, kind, ns, looked);
      await play(cluster, kind, ns, looked, 0);
      expect(await command("list")).toMatch(new RegExp(`${kind.id}/${looked} +rolling`));
      await play(cluster, kind, ns, looked, 1);
      expect(await command("explain", `${kind.id}/${looked}`)).toContain(
        `${kind.template}.spec.containers[0].envFrom[0]`,
      );
      expect(await command("list")).toMatch(new RegExp(`${kind.id}/${looked} `));
      expect(await command("hold", `${kind.id}/${looked}`)).toContain(" held (undo: wave release ");
      await namespace.edit("ConfigMap", looked, { a: "2" });
      await until("an Event", async () =>
        (await waveEvents(cluster, ns, looked)).find(({ reason }) => reason === "RolloutHeld"),
      );
      expect(await command("release", `${kind.id}/${looked}`)).toContain(" released ");
      await nextHash(cluster, kind, ns, looked, first);
    });

    it.skipIf(!differs)("waits for what it requires", async () => {
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

  it("starts with the correct hash, and waits for required configuration, when webhooks are on", async () => {
    const scene = "kinds-admitted";
    const args = [`--workload-kinds=${playedKinds.map(({ flag }) => flag).join(",")}`];
    const { wave: admitting, namespace: admitted } = await startScene(cluster, scene, { webhooks: true, args });
    try {
      await until("all kinds to be found", async () =>
        playedKinds.every(({ id }) => admitting.log().includes(id)) ? true : undefined,
      );
      await admitted.configMap("page", { a: "1" });
      for (const kind of playedKinds) {
        await make(cluster, kind, scene, "hashed", { reads: "page" });
        expect(await hashOf(cluster, kind, scene, "hashed")).toMatch(/^v2:/);
        expect(await writesOf(cluster, kind, scene, "hashed")).toBe(0);
        await make(cluster, kind, scene, "on-hold", { reads: "later" });
        expect(await podSpecOf(cluster, kind, scene, "on-hold")).toMatchObject({
          schedulerName: invalidScheduler,
        });
      }
      await admitted.configMap("later", { a: "1" });
      for (const kind of playedKinds) {
        await nextHash(cluster, kind, scene, "on-hold");
        expect(await podSpecOf(cluster, kind, scene, "on-hold")).not.toHaveProperty("schedulerName");
      }
    } finally {
      await admitting.stop();
    }
  });

  it("are restarted without a template change if the annotation of a Rollout requests it", async () => {
    const rollouts = playedKinds.find(({ plural }) => plural === "rollouts") as (typeof playedKinds)[number];
    const elsewhere = "kinds-restarts";
    const restarting = await makeNamespace(cluster, elsewhere);
    const account = await chartAccount(
      cluster,
      elsewhere,
      `namespaces={${elsewhere}},workloadKinds={${rollouts.flag}},compatibility={wave,stakater}`,
    );
    const flags = [`--namespaces=${elsewhere}`, `--workload-kinds=${rollouts.flag}`, "--compatibility=wave,stakater"];
    const restarter = await startWave(["--kubeconfig", account.kubeconfig, ...flags]);
    try {
      const annotations = { "reloader.stakater.com/rollout-strategy": "restart" };
      await restarting.configMap("web", { a: "1" });
      await make(cluster, rollouts, elsewhere, "web", { annotations });
      const path = pathOf(rollouts, elsewhere, "web");
      const hash = async () => (await cluster.api("GET", path)).metadata.annotations?.["wave.pusher.com/config-hash"];
      const first = await until("a hash", hash);
      expect((await cluster.api("GET", path)).spec).not.toHaveProperty("restartAt");
      await restarting.edit("ConfigMap", "web", { a: "2" });
      await until("a restart", async () => ((await hash()) === first ? undefined : true));
      expect((await cluster.api("GET", path)).spec).toHaveProperty("restartAt");
      expect(await hashOf(cluster, rollouts, elsewhere, "web")).toBeUndefined();
      expect(await writesOf(cluster, rollouts, elsewhere, "web")).toBe(1);
    } finally {
      await restarter.stop();
      await account.remove();
    }
    expect(account.forbidden()).toEqual([]);
  });

  it("are tracked when they are defined, and no longer tracked when they are removed", async () => {
    await define(cluster, laterKind);
    await make(cluster, laterKind, ns, "late", { reads: "late" });
    await namespace.configMap("late", { a: "1" });
    const first = await until("a hash", () => hashOf(cluster, laterKind, ns, "late"), 180_000);
    await namespace.edit("ConfigMap", "late", { a: "2" });
    await nextHash(cluster, laterKind, ns, "late", first);
    await undefine(cluster, laterKind);
    const gone = async () => (wave.log().includes("a kind of workload is no longer available") ? true : undefined);
    await until("it to be let go of", gone, 180_000);
    expect(await wave.readyz()).not.toContain(laterKind.plural);
    const lines = wave.log().split("\n");
    expect(lines.filter((line) => /warn|error/i.test(line) && line.includes(laterKind.plural)).length).toBeLessThan(4);
  });

  it("are reported once if they do not exist, and do not delay other kinds", async () => {
    const lines = wave.log().split("\n");
    expect(lines.filter((line) => line.includes("a kind of workload is not available"))).toHaveLength(1);
    expect(await wave.readyz()).not.toContain(laterKind.id);
  });
});
