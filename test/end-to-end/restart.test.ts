import { expect, it, onTestFinished } from "vitest";
import { readAuditLog } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { type ChartAccount, chartAccount } from "../deploy/chart-account.ts";
import { container, makeNamespace, workload } from "./objects.ts";
import { newHash, recordedHash, revisionsToBe, settledRevisions, waveEvents } from "./state.ts";

const ns = "restart";
const names = Array.from({ length: 10 }, (_, index) => `app-${index}`);
const password = "correct-horse-battery-staple";
const reads = (name: string) => ({
  containers: [{ ...container, envFrom: [{ configMapRef: { name } }, { secretRef: { name } }] }],
});

describeOnControlPlane("Wave after a restart", (cluster) => {
  let account: ChartAccount;
  const start = () =>
    startWave(["--kubeconfig", account.kubeconfig, `--namespaces=${ns}`, "--log-level=debug", "--log-format=json"]);
  const hashes = () => Promise.all(names.map((name) => recordedHash(cluster, ns, "Deployment", name)));
  /** Returns every write of Wave in this namespace, from the audit log of the API server. */
  const writes = () =>
    readAuditLog(cluster.auditLog)
      .filter(({ userAgent, objectRef }) => userAgent?.startsWith("wave/") && objectRef?.namespace === ns)
      .filter(({ verb }) => !["get", "list", "watch"].includes(verb))
      .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource} ${objectRef?.name ?? ""}`.trim());

  it("rolls workloads once whose configuration changed while Wave was stopped, writes nothing else, and shows no value", async () => {
    const namespace = await makeNamespace(cluster, ns);
    for (const name of names) {
      await namespace.configMap(name, { a: "1", unread: "1" });
      await namespace.secret(name, { password });
      await namespace.create(workload(name, reads(name)));
    }
    account = await chartAccount(cluster, ns, `namespaces={${ns}}`);
    onTestFinished(() => account.remove());
    const first = await start();
    await Promise.all(names.map((name) => newHash(cluster, ns, "Deployment", name)));
    expect(await first.stop()).toBe(0);
    const before = await hashes();
    const starts = await Promise.all(names.map((name) => settledRevisions(cluster, ns, "Deployment", name)));

    const changed = names.slice(0, 4);
    for (const name of changed) {
      await namespace.edit("ConfigMap", name, { a: "2" });
      await namespace.edit("Secret", name, { password: `${password} 2` });
    }
    await namespace.merge(`/api/v1/namespaces/${ns}/configmaps/app-9`, { metadata: { labels: { nobody: "reads" } } });
    const second = await start();
    for (const [index, name] of changed.entries()) await newHash(cluster, ns, "Deployment", name, before[index]);
    const metrics = await second.metrics();
    expect(await second.stop()).toBe(0);
    expect((await hashes()).slice(4)).toEqual(before.slice(4));
    for (const [index, name] of names.entries()) {
      const rollouts = changed.includes(name) ? 1 : 0;
      await revisionsToBe(cluster, ns, "Deployment", name, (starts[index] ?? 0) + rollouts);
    }

    // Exactly one PATCH and one Event for each change: ten first hashes, then four rollouts. An Event for the end of each follows while a Wave runs.
    const patches = (name: string) => writes().filter((write) => write === `patch deployments ${name}`).length;
    await until("the audit log to be written", async () =>
      writes().filter((write) => write.startsWith("create events")).length >= 14 ? true : undefined,
    );
    expect(names.map(patches)).toEqual(names.map((name) => (changed.includes(name) ? 2 : 1)));
    expect(writes().filter((write) => !write.startsWith("create events"))).toHaveLength(14);

    expect(account.forbidden()).toEqual([]);

    const events = (await Promise.all(names.map((name) => waveEvents(cluster, ns, name)))).flat();
    const ends = events.filter(({ reason }) => reason === "RolloutComplete");
    expect(events.length - ends.length).toBe(14);
    expect(ends.length).toBeLessThanOrEqual(14);
    const everything = [first.log(), second.log(), metrics, JSON.stringify(events)].join("\n");
    for (const form of [password, Buffer.from(password).toString("base64"), "staple"]) {
      expect(everything).not.toContain(form);
    }
  });
});
