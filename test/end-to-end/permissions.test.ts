import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { temporaryFiles } from "../../src/kube/test-files.ts";
import { readAuditLog } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workload } from "./objects.ts";
import { newHash, waveEvents } from "./state.ts";

const ns = "permissions";
const permissions = readFileSync(join(import.meta.dirname, "../../examples/permissions.yaml"), "utf8");

describeOnControlPlane("Wave with the permissions of examples/permissions.yaml alone", (cluster) => {
  /** A kubeconfig of a service account that has these permissions in one namespace, and nothing else anywhere. */
  const accountKubeconfig = async () => {
    await cluster.kubectl(["-n", ns, "create", "serviceaccount", "wave"]);
    await cluster.kubectl(["-n", ns, "apply", "-f", "-"], permissions);
    for (const role of ["wave", "wave-leader-election"]) {
      await cluster.kubectl(["-n", ns, "create", "rolebinding", role, `--role=${role}`, `--serviceaccount=${ns}:wave`]);
    }
    const token = (await cluster.kubectl(["-n", ns, "create", "token", "wave"])).trim();
    const kubeconfig = parse(readFileSync(cluster.kubeconfig, "utf8"));
    const files = { kubeconfig: JSON.stringify({ ...kubeconfig, users: [{ name: "admin", user: { token } }] }) };
    return join(await temporaryFiles(files), "kubeconfig");
  };

  it("leads, rolls, and tells of it in one namespace, and is forbidden nothing that it tries", async () => {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { a: "1" });
    await namespace.secret("app", { a: "1" });
    const envFrom = [{ configMapRef: { name: "app" } }, { secretRef: { name: "app" } }];
    await namespace.create(workload("app", { containers: [{ ...container, envFrom }] }));
    const wave = await startWave([
      `--kubeconfig=${await accountKubeconfig()}`,
      `--namespaces=${ns}`,
      "--leader-election",
      `--leader-election-namespace=${ns}`,
      "--leader-election-lease-duration=2s",
      "--leader-election-renew-deadline=1500ms",
      "--leader-election-retry-period=500ms",
    ]);
    const first = await newHash(cluster, ns, "Deployment", "app");
    await namespace.edit("Secret", "app", { a: "2" });
    await newHash(cluster, ns, "Deployment", "app", first);
    await until("both Events", async () => ((await waveEvents(cluster, ns, "app")).length === 2 ? true : undefined));
    expect(await wave.stop()).toBe(0);

    const asked = () =>
      readAuditLog(cluster.auditLog).filter(({ user }) => user.username === `system:serviceaccount:${ns}:wave`);
    await until("the audit log to be written", async () =>
      asked().some(({ verb, objectRef }) => verb === "update" && objectRef?.resource === "leases") ? true : undefined,
    );
    expect(asked().filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
  });
});
