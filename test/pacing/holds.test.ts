import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import {
  container,
  kindNames,
  makeNamespace,
  type Namespace,
  type WorkloadKind,
  workload,
  workloadPath,
} from "../end-to-end/objects.ts";
import { newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { everythingAsked } from "./written.ts";

const prefix = "wave.pusher.com/";
const ns = "holds";

describeOnControlPlane("a workload that people hold", (cluster) => {
  let namespace: Namespace;
  let wave: WaveProcess;
  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    // No waiting, so that only people hold a rollout.
    wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns},observed`]);
  });
  afterAll(async () => {
    await wave?.stop();
  });

  const say = (path: string, annotations: Record<string, string | null>) => {
    const prefixed = Object.fromEntries(Object.entries(annotations).map(([name, text]) => [prefix + name, text]));
    return namespace.merge(path, { metadata: { annotations: prefixed } });
  };
  const hash = (kind: WorkloadKind, name: string) => recordedHash(cluster, ns, kind, name);

  /** Creates a workload with its first hash, and the ConfigMap that it reads. */
  const make = async (kind: WorkloadKind, name: string) => {
    await namespace.configMap(name, { edit: "0" });
    const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }] };
    await namespace.create(workload(name, podSpec, { kind }));
    return newHash(cluster, ns, kind, name);
  };
  const held = (name: string, text: string) =>
    until(`an Event that ${name} is held`, async () => {
      const events = await waveEvents(cluster, ns, name);
      return events.find(({ reason, message }) => reason === "RolloutHeld" && message.includes(text));
    });

  describe.for(kindNames)("a %s", (kind) => {
    const name = `app-${kind.toLowerCase()}`;
    const path = workloadPath(ns, kind, name);
    const edit = (to: string) => namespace.edit("ConfigMap", name, { edit: to });

    it("is rolled once when its own hold is removed, and is reported as held before", async () => {
      const first = await make(kind, name);
      await say(path, { hold: "true" });
      await edit("1");
      expect((await held(name, "hold")).type).toBe("Normal");
      await edit("2");
      expect(await hash(kind, name)).toBe(first);
      await say(path, { hold: null });
      await newHash(cluster, ns, kind, name, first);
    });

    it("is rolled when the hold of its Namespace is removed, or overridden for this workload", async () => {
      await say(`/api/v1/namespaces/${ns}`, { hold: "true" });
      // The watch of Namespaces may be later than that of ConfigMaps.
      await until(`${name} to be held by its Namespace`, async () => {
        await edit(`${Date.now()}`);
        const events = await waveEvents(cluster, ns, name);
        return events.some(({ reason, message }) => reason === "RolloutHeld" && /Namespace/.test(message)) || undefined;
      });
      const before = await hash(kind, name);
      await edit("3");
      expect(await hash(kind, name)).toBe(before);
      await say(path, { hold: "false" });
      await newHash(cluster, ns, kind, name, before);
      await say(path, { hold: null });
      await say(`/api/v1/namespaces/${ns}`, { hold: null });
    });

    it("is not rolled for a ConfigMap that requests no rollouts", async () => {
      const before = await hash(kind, name);
      await say(`/api/v1/namespaces/${ns}/configmaps/${name}`, { hold: "true" });
      await edit("4");
      await held(name, `ConfigMap "${name}"`);
      expect(await hash(kind, name)).toBe(before);
      await say(`/api/v1/namespaces/${ns}/configmaps/${name}`, { hold: null });
      await newHash(cluster, ns, kind, name, before);
    });

    it("is rolled when its next hash is approved, and not when another hash is approved", async () => {
      const before = await hash(kind, name);
      await say(path, { mode: "approve" });
      await edit("5");
      const { message } = await held(name, "approv");
      const [digits = ""] = /\b[0-9a-f]{8,}\b/.exec(message) ?? [];
      expect(digits).not.toBe("");
      await say(path, { approved: digits === "00000000" ? "11111111" : "00000000" });
      await edit("6");
      await edit("5");
      expect(await hash(kind, name)).toBe(before);
      await say(path, { approved: digits });
      const after = await newHash(cluster, ns, kind, name, before);
      expect(after?.split(":")[1]?.startsWith(digits)).toBe(true);
      await say(path, { mode: null, approved: null });
    });

    it("is rolled in its window", async () => {
      const before = await hash(kind, name);
      const day = new Date(Date.now() - 3 * 86_400_000).toLocaleDateString("en-GB", {
        timeZone: "UTC",
        weekday: "short",
      });
      await say(path, { window: `${day} 00:00-24:00` });
      await edit("7");
      expect((await held(name, "window")).message).toMatch(/\d\d:\d\d/);
      expect(await hash(kind, name)).toBe(before);
      await say(path, { window: "Mon-Sun 00:00-24:00 Europe/Berlin" });
      await newHash(cluster, ns, kind, name, before);
      await say(path, { window: "any time" });
      await edit("8");
      expect((await held(name, "any time")).type).toBe("Warning");
      await say(path, { window: null });
    });
  });

  it("opts the workloads of a Namespace in and out by the annotation of the Namespace", async () => {
    const name = "by-namespace";
    await namespace.configMap(name, { edit: "0" });
    const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }] };
    for (const kind of kindNames) {
      const { metadata, ...rest } = workload(`${name}-${kind.toLowerCase()}`, podSpec, { kind });
      await namespace.create({ ...rest, metadata: { name: metadata.name } });
    }
    await say(`/api/v1/namespaces/${ns}`, { "update-on-config-change": "true" });
    for (const kind of kindNames) await newHash(cluster, ns, kind, `${name}-${kind.toLowerCase()}`);
    await say(`/api/v1/namespaces/${ns}`, { "update-on-config-change": null });
  });

  it("writes nothing in a Namespace that is only observed", async () => {
    const observed = await makeNamespace(cluster, "observed");
    await observed.merge("/api/v1/namespaces/observed", {
      metadata: { annotations: { [`${prefix}mode`]: "observe" } },
    });
    await observed.configMap("app", { edit: "0" });
    for (const kind of kindNames) {
      const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "app" } }] }] };
      await observed.create(workload(`app-${kind.toLowerCase()}`, podSpec, { kind }));
    }
    for (const kind of kindNames) {
      await until(`${kind} to be reported`, async () => {
        const events = await waveEvents(cluster, "observed", `app-${kind.toLowerCase()}`);
        return events.some(({ reason }) => reason === "RolloutHeld") ? true : undefined;
      });
    }
    expect(await writes("observed")).toEqual([]);
  });

  it("writes nothing if Wave only observes", async () => {
    await wave.stop();
    const count = (await writes(ns)).length;
    const before = await Promise.all(kindNames.map((kind) => hash(kind, `app-${kind.toLowerCase()}`)));
    for (const kind of kindNames) await namespace.edit("ConfigMap", `app-${kind.toLowerCase()}`, { edit: "observed" });
    wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, "--observe"], { paced: true });
    for (const kind of kindNames) await held(`app-${kind.toLowerCase()}`, "observe");
    expect(await Promise.all(kindNames.map((kind) => hash(kind, `app-${kind.toLowerCase()}`)))).toEqual(before);
    expect(await writes(ns)).toHaveLength(count);
  });

  /** Returns the writes of workloads by Wave in a namespace. */
  async function writes(of: string) {
    return (await everythingAsked(cluster)).filter(
      ({ userAgent, objectRef, verb }) =>
        userAgent?.startsWith("wave/") &&
        objectRef?.namespace === of &&
        ["deployments", "statefulsets", "daemonsets", "pods"].includes(objectRef.resource) &&
        !["get", "list", "watch"].includes(verb),
    );
  }
});
