import { createHash } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { container, makeNamespace, optIn, workloadKinds } from "../end-to-end/objects.ts";
import { newHash, recordedHash, revisionsToBe, settledRevisions } from "../end-to-end/state.ts";
import { auditWritten, leftBehind, startFor, untilUnchanged, writesIn } from "./migrated.ts";

const ns = "from-wave-in-go";
const settings = { "10": "ten", "9": "nine", colour: "blue" };
const login = { password: "pass" };

type Values = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Returns the hash from the documentation of Wave in Go: of a JSON text, sorted as in Go. */
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

describeOnControlPlane("Wave after Wave in Go", (cluster) => {
  const start = () => startFor(cluster, ns);

  it("writes nothing, and rolls workloads once for an edit and once for a change while no controller ran", async () => {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("settings", settings);
    await namespace.secret("login", login);
    const envFrom = [{ configMapRef: { name: "settings" } }, { secretRef: { name: "login" } }];
    const left = (name: string, hash: string, kind?: (typeof workloadKinds)[number]["kind"]) => {
      const template = { "wave.pusher.com/config-hash": hash };
      const podSpec = { containers: [{ ...container, envFrom }] };
      return namespace.create(leftBehind(name, podSpec, { annotations: optIn, template, ...(kind && { kind }) }));
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
    for (const { kind } of workloadKinds) await untilUnchanged(wave, kind, "current");
    await auditWritten(cluster);
    expect(writesIn(cluster, ns)).toEqual(["patch deployments stale"]);
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

  it("and back: Wave in Go replaces the hash of Wave with its own, and Wave takes this hash over again", async () => {
    const name = "current";
    const path = `/apis/apps/v1/namespaces/${ns}/deployments/${name}`;
    const hash = hashInGo({ settings: { ...settings, colour: "green" } }, { login });
    const annotations = { "wave.pusher.com/config-hash": hash };
    const namespacePath = { spec: { template: { metadata: { annotations } } } };
    await cluster.api("PATCH", path, namespacePath, "application/merge-patch+json");
    const before = await settledRevisions(cluster, ns, "Deployment", name);
    const wave = await start();
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    await untilUnchanged(wave, "Deployment", "current");
    expect(await wave.stop()).toBe(0);
    expect(await recordedHash(cluster, ns, "Deployment", name)).toBe(hash);
    expect(await settledRevisions(cluster, ns, "Deployment", name)).toBe(before);
  });
});
