import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { workload, workloadKinds } from "../end-to-end/objects.ts";
import { newHash, recordedHash, revisionsToBe } from "../end-to-end/state.ts";
import { helm, lifeOf, podsToBe, reads, rolledOut, type Scene, startScene } from "./admitted.ts";

const ns = "admission-tools";

describeOnControlPlane("with webhooks, the tools of users", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true });
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });
  const kubectl = (args: readonly string[], object?: unknown) =>
    cluster.kubectl(["-n", ns, ...args], object === undefined ? "" : JSON.stringify(object));

  describe.for(workloadKinds)("cause no extra rollout of a $kind:", ({ kind, plural }) => {
    const name = `tools-${kind.toLowerCase()}`;
    const object = workload(name, reads(name), { kind });
    const labelled = (value: string) => ({ ...object, metadata: { ...object.metadata, labels: { value } } });
    let hash: string | undefined;

    beforeAll(async () => {
      await scene.namespace.configMap(name, { a: "1" });
      await kubectl(["apply", "-f", "-"], object);
      hash = await recordedHash(cluster, ns, kind, name);
      await rolledOut(scene, kind, name);
    });

    const changes: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["kubectl apply of the same", () => kubectl(["apply", "-f", "-"], object)],
      ["kubectl apply of another label", () => kubectl(["apply", "-f", "-"], labelled("a"))],
      ["kubectl replace, which leaves the hash out", () => kubectl(["replace", "-f", "-"], labelled("b"))],
      [
        "kubectl apply --server-side",
        () => kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], labelled("c")),
      ],
      ["kubectl edit", () => kubectl(["patch", plural, name, "--type=merge", "-p", '{"spec":{"minReadySeconds":1}}'])],
      ["kubectl annotate", () => kubectl(["annotate", plural, name, "mine=yours"])],
      ...(kind === "DaemonSet"
        ? []
        : [["kubectl scale", () => kubectl(["scale", plural, name, "--replicas=2"])] as const]),
    ];
    it.for(changes)("%s", async ([, change]) => {
      await change();
      expect(await recordedHash(cluster, ns, kind, name)).toBe(hash);
      await scene.caughtUp();
      await revisionsToBe(cluster, ns, kind, name, 1);
      expect(await recordedHash(cluster, ns, kind, name)).toBe(hash);
    });
  });

  it("print problems as warnings", async () => {
    await scene.namespace.configMap("elsewhere", {});
    const annotations = {
      "wave.pusher.com/extra-configmap": "elsewhere",
      "wave.pusher.com/extra-secrets": "default/somebody-elses, Not_A_Name",
    };
    const output = await kubectl(["create", "-f", "-"], workload("warned", reads("not-there"), { annotations }));
    const warnings = output.split("\n").filter((line) => line.startsWith("Warning: "));
    expect(warnings.join("\n")).toMatch(
      /wave\.pusher\.com\/extra-configmap" is unknown. Did you mean wave\.pusher\.com\/extra-configmaps\?/,
    );
    expect(warnings.join("\n")).toMatch(/ConfigMap "not-there"/);
    expect(warnings.join("\n")).toMatch(/"default\/somebody-elses": ignored/);
    expect(warnings.join("\n")).toMatch(/Not_A_Name/);
    const unclear = workload("unclear", reads("x"), {
      annotations: { "wave.pusher.com/update-on-config-change": "yes" },
    });
    expect(await kubectl(["create", "-f", "-"], unclear)).toMatch(/^Warning: .*update-on-config-change.*"true"/m);
  });

  it("can request a dry run, which changes nothing and shows the hash", async () => {
    await scene.namespace.configMap("dry", { a: "1" });
    const output = await kubectl(
      ["create", "--dry-run=server", "-o", "yaml", "-f", "-"],
      workload("dry", reads("dry")),
    );
    expect(output).toMatch(/wave\.pusher\.com\/config-hash: v2:/);
    await expect(recordedHash(cluster, ns, "Deployment", "dry")).rejects.toThrow("404");
  });

  describe("helm", () => {
    let chart: string;
    beforeAll(async () => {
      chart = await mkdtemp(join(tmpdir(), "wave-chart-"));
      await mkdir(join(chart, "templates"));
      await writeFile(join(chart, "Chart.yaml"), JSON.stringify({ apiVersion: "v2", name: "app", version: "1.0.0" }));
      await writeFile(join(chart, "values.yaml"), JSON.stringify({ image: "nginx", value: "1", hook: "" }));
      await writeFile(
        join(chart, "templates", "config.yaml"),
        `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  {{- with .Values.hook }}
  annotations: {helm.sh/hook: {{ . }}}
  {{- end }}
data: {a: "{{ .Values.value }}"}
`,
      );
      // The default settle time, which this Wave does not have: the edit must not be rolled before the new template arrives.
      const settles = { "wave.pusher.com/settle": "1s" };
      const app = workload("{{ .Release.Name }}", reads("{{ .Release.Name }}"));
      const { metadata } = app;
      const settling = { ...app, metadata: { ...metadata, annotations: { ...metadata.annotations, ...settles } } };
      const deployment = JSON.stringify(settling);
      await kubectl(["annotate", "deployment", "canary", ...Object.entries(settles).map((each) => each.join("="))]);
      await writeFile(join(chart, "templates", "web.yaml"), deployment.replace('"nginx"', '"{{ .Values.image }}"'));
    });
    afterAll(() => rm(chart, { recursive: true }));

    it("installs workloads before configuration: no Pod starts before the configuration exists, and no Pod restarts", async () => {
      await helm(cluster, ["-n", ns, "install", "late", chart, "--set", "hook=post-install"]);
      await newHash(cluster, ns, "Deployment", "late");
      await podsToBe(scene, "late", "Running");
      await rolledOut(scene, "Deployment", "late");
      await scene.caughtUp();
      // One revision if the Deployment controller first looked after Wave had lifted the scheduling hold, else two.
      expect((await lifeOf(scene, "Deployment", "late")).started).toBe(1);
    });

    it("installs, then upgrades configuration and template together: one rollout each", async () => {
      await helm(cluster, ["-n", ns, "install", "app", chart]);
      await rolledOut(scene, "Deployment", "app");
      await scene.caughtUp();
      expect(await lifeOf(scene, "Deployment", "app")).toEqual({ revisions: 1, started: 1 });
      await helm(cluster, ["-n", ns, "upgrade", "app", chart, "--set", "value=2,image=nginx:2"]);
      await rolledOut(scene, "Deployment", "app");
      await scene.caughtUp();
      expect(await lifeOf(scene, "Deployment", "app")).toMatchObject({ revisions: 2 });
    });
  });
});
