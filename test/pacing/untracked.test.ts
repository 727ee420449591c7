import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, kindNames, makeNamespace, type Namespace, workload, workloadPath } from "../end-to-end/objects.ts";
import { getWorkload, newHash, templateHash } from "../end-to-end/state.ts";

const prefix = "wave.pusher.com/";
const ns = "left-out";

describeOnControlPlane("configuration that is not tracked", (cluster) => {
  let namespace: Namespace;
  let wave: WaveProcess;
  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`]);
  });
  afterAll(async () => {
    await wave?.stop();
  });

  describe.for(kindNames)("for a %s", (kind) => {
    const name = `app-${kind.toLowerCase()}`;
    const path = workloadPath(ns, kind, name);
    const configMapPath = `/api/v1/namespaces/${ns}/configmaps/${name}`;
    const say = (of: string, annotation: string, text: string | null) =>
      namespace.merge(of, { metadata: { annotations: { [prefix + annotation]: text } } });
    const hash = () => templateHash(cluster, ns, kind, name);
    const anotherHash = (before: string | undefined) =>
      until("another hash in the pod template", async () => {
        const now = await hash();
        return now === before ? undefined : now;
      });
    /** Returns what is recorded beside the hash in the pod template; undefined if the record belongs to an earlier hash. */
    const recordedConfig = async () => {
      const { metadata, spec } = await getWorkload(cluster, ns, kind, name);
      const record = metadata.annotations?.[`${prefix}recorded-config`];
      const written = spec.template.metadata.annotations?.[`${prefix}config-hash`] ?? "";
      return record?.startsWith(`${written} `) ? record : undefined;
    };
    /** Applies an annotation and waits until Wave has recorded the tracked configuration. */
    const noted = async (of: string, annotation: string, text: string | null) => {
      const before = await recordedConfig();
      await say(of, annotation, text);
      await until("another recorded configuration", async () =>
        (await recordedConfig()) !== before ? true : undefined,
      );
    };

    it("rolls nothing when configuration becomes untracked, changes while untracked, or is tracked again", async () => {
      for (const each of [name, `${name}-other`]) await namespace.configMap(each, { [each]: "0" });
      const envFrom = [name, `${name}-other`].map((each) => ({ configMapRef: { name: each } }));
      await namespace.create(workload(name, { containers: [{ ...container, envFrom }] }, { kind }));
      await newHash(cluster, ns, kind, name);
      const first = await hash();

      await noted(configMapPath, "ignore", "true");
      await noted(configMapPath, "ignore", null);
      await noted(path, "exclude-configmaps", `${name}-other`);
      await noted(path, "exclude-configmaps", null);
      expect(await hash()).toBe(first);

      await noted(configMapPath, "ignore", "true");
      await namespace.edit("ConfigMap", name, { [name]: "1" });
      await namespace.edit("ConfigMap", `${name}-other`, { [`${name}-other`]: "1" });
      const second = await anotherHash(first);
      // Its Pods were created after the edit, so nothing is left to do.
      await noted(configMapPath, "ignore", null);
      expect(await hash()).toBe(second);

      await noted(configMapPath, "ignore", "true");
      await namespace.edit("ConfigMap", name, { [name]: "2" });
      await say(configMapPath, "ignore", null);
      await anotherHash(second);
      expect(await recordedConfig()).toBeUndefined();
    });
  });
});
