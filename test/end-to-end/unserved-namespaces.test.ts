import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { temporaryFiles } from "../../src/kube/test-files.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workload } from "./objects.ts";
import { newHash } from "./state.ts";

const [granted, later, absent] = ["served", "served-later", "not-there-yet"];
const permissions = readFileSync(join(import.meta.dirname, "../../examples/permissions.yaml"), "utf8");

describeOnControlPlane("Wave where it may not list some of its namespaces", (cluster) => {
  const grant = async (namespace: string) => {
    await cluster.kubectl(["-n", namespace, "apply", "-f", "-"], permissions);
    const binding = ["create", "rolebinding", "wave", "--role=wave", `--serviceaccount=${granted}:wave`];
    await cluster.kubectl(["-n", namespace, ...binding]);
  };
  const makeApp = async (name: string) => {
    const namespace = await makeNamespace(cluster, name);
    await namespace.configMap("app", { a: "1" });
    const envFrom = [{ configMapRef: { name: "app" } }];
    await namespace.create(workload("app", { containers: [{ ...container, envFrom }] }));
    return namespace;
  };

  it("serves the others, says so, and serves each as soon as it may, also one that did not exist", async () => {
    const namespace = await makeApp(granted);
    await makeApp(later);
    await cluster.kubectl(["-n", granted, "create", "serviceaccount", "wave"]);
    await grant(granted);
    const token = (await cluster.kubectl(["-n", granted, "create", "token", "wave"])).trim();
    const kubeconfig = parse(readFileSync(cluster.kubeconfig, "utf8"));
    const files = { kubeconfig: JSON.stringify({ ...kubeconfig, users: [{ name: "admin", user: { token } }] }) };
    const wave = await startWave([
      `--kubeconfig=${join(await temporaryFiles(files), "kubeconfig")}`,
      `--namespaces=${granted},${later},${absent}`,
    ]);
    const unserved = async () =>
      Number(/^wave_cache_unserved_namespaces (\d+)$/m.exec(await wave.metrics())?.[1] ?? Number.NaN);

    const first = await newHash(cluster, granted, "Deployment", "app");
    await namespace.edit("ConfigMap", "app", { a: "2" });
    await newHash(cluster, granted, "Deployment", "app", first);
    expect(await unserved()).toBe(2);
    expect(await wave.readyz()).toMatch(
      /^ok\n(?:.*\n)?cannot watch \w+ in served-later: allow this user "list" and "watch" on \w+ in namespace served-later\n/,
    );

    await grant(later);
    await newHash(cluster, later, "Deployment", "app");
    await makeApp(absent);
    await grant(absent);
    await newHash(cluster, absent, "Deployment", "app");
    await until("all to be served", async () => ((await unserved()) === 0 ? true : undefined));
    expect(await wave.readyz()).toBe("ok");
    expect(await wave.stop()).toBe(0);
  });
});
