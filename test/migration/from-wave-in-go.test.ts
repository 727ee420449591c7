import { createHash } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { readAuditLog } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workload, workloadKinds } from "../end-to-end/objects.ts";
import { newHash, recordedHash, revisionsToBe, settledRevisions } from "../end-to-end/state.ts";

const ns = "from-wave-in-go";
const settings = { "10": "ten", "9": "nine", colour: "blue" };
const login = { password: "pass" };

type Values = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The hash as the documentation of Wave in Go has it: of a JSON text, sorted as Go sorts. */
function hashInGo(configMaps: Values, secrets: Values): string {
  const object = (fields: readonly (readonly [string, string])[]) =>
    `{${[...fields]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, json]) => `"${name}":${json}`)
      .join(",")}}`;
  const base64 = (text: string) => `"${Buffer.from(text).toString("base64")}"`;
  const objects = (values: Values) =>
    object(
      Object.entries(values).map(([name, data]) => [
        name,
        object(Object.entries(data).map(([key, value]) => [key, base64(value)])),
      ]),
    );
  const text = `{"configMaps":${objects(configMaps)},"secrets":${objects(secrets)}}`;
  return createHash("sha256").update(text).digest("hex");
}

/** Waits until the log says that nothing is to be done about the workload "current". */
function untilUnchanged(wave: WaveProcess, kind: string) {
  const is = (line: string) =>
    [`"kind":"${kind}"`, '"name":"current"', '"outcome":"unchanged"'].every((part) => line.includes(part));
  return until(`${kind} current to be planned`, async () => (wave.log().split("\n").some(is) ? true : undefined));
}

describeOnControlPlane("Wave where Wave in Go was", (cluster) => {
  const start = () =>
    startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, "--log-level=debug", "--log-format=json"]);
  const writes = () =>
    readAuditLog(cluster.auditLog)
      .filter(({ userAgent, objectRef }) => userAgent?.startsWith("wave/") && objectRef?.namespace === ns)
      .filter(({ verb }) => !["get", "list", "watch"].includes(verb))
      .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`);

  it("writes nothing, rolls once what an edit concerns, and once what changed while no controller ran", async () => {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("settings", settings);
    await namespace.secret("login", login);
    const left = (name: string, hash: string, kind: (typeof workloadKinds)[number]["kind"] = "Deployment") => {
      const object = workload(
        name,
        {
          containers: [
            { ...container, envFrom: [{ configMapRef: { name: "settings" } }, { secretRef: { name: "login" } }] },
          ],
        },
        { kind },
      );
      Object.assign(object.spec.template.metadata, { annotations: { "wave.pusher.com/config-hash": hash } });
      return namespace.create(object);
    };
    const current = hashInGo({ settings }, { login });
    for (const { kind } of workloadKinds) await left("current", current, kind);
    await left("stale", hashInGo({ settings: { ...settings, colour: "red" } }, { login }));
    const starts = await Promise.all(workloadKinds.map(({ kind }) => settledRevisions(cluster, ns, kind, "current")));

    const wave = await start();
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    expect(
      await newHash(
        cluster,
        ns,
        "Deployment",
        "stale",
        hashInGo({ settings: { ...settings, colour: "red" } }, { login }),
      ),
    ).toMatch(/^v2:/);
    // The log tells that each was planned; the audit log that only the stale one was written.
    for (const { kind } of workloadKinds) await untilUnchanged(wave, kind);
    await until("the audit log to be written", async () => (writes().includes("create events") ? true : undefined));
    expect(writes().filter((write) => !write.endsWith("events"))).toEqual(["patch deployments"]);
    for (const { kind } of workloadKinds) expect(await recordedHash(cluster, ns, kind, "current")).toBe(current);

    await namespace.edit("ConfigMap", "settings", { colour: "green" });
    for (const { kind } of workloadKinds) {
      expect(await newHash(cluster, ns, kind, "current", current)).toMatch(/^v2:/);
    }
    expect(await wave.stop()).toBe(0);
    for (const [index, { kind }] of workloadKinds.entries()) {
      await revisionsToBe(cluster, ns, kind, "current", (starts[index] ?? 0) + 1);
    }
    for (const value of [...Object.values(login), Buffer.from("pass").toString("base64")]) {
      expect(wave.log()).not.toContain(value);
    }
  });

  it("and back: Wave in Go puts its own hash in place of Wave's, and Wave takes that over again", async () => {
    const name = "current";
    const path = `/apis/apps/v1/namespaces/${ns}/deployments/${name}`;
    const hash = hashInGo({ settings: { ...settings, colour: "green" } }, { login });
    const annotations = { "wave.pusher.com/config-hash": hash };
    const namespacePath = { spec: { template: { metadata: { annotations } } } };
    await cluster.api("PATCH", path, namespacePath, "application/merge-patch+json");
    const before = await settledRevisions(cluster, ns, "Deployment", name);
    const wave = await start();
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    await untilUnchanged(wave, "Deployment");
    expect(await wave.stop()).toBe(0);
    expect(await recordedHash(cluster, ns, "Deployment", name)).toBe(hash);
    expect(await settledRevisions(cluster, ns, "Deployment", name)).toBe(before);
  });
});
