import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Scene, startScene } from "../admission/admitted.ts";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { wave } from "../control-plane/wave-process.ts";
import { optIn, workload } from "../end-to-end/objects.ts";
import { getWorkload, newHash } from "../end-to-end/state.ts";
import { installKind, volumeOf } from "./driver.ts";

const ns = "csi-scheduling-hold";

describeOnOwnControlPlane("a workload whose SecretProviderClass makes the Secret that it reads", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true });
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  it("is scheduled, because the driver makes the Secret when a Pod mounts the volume", async () => {
    const container = { name: "app", image: "nginx", envFrom: [{ secretRef: { name: "db" } }] };
    await scene.namespace.create(workload("web", { containers: [container], volumes: [volumeOf("vault")] }));
    const { spec } = await getWorkload(cluster, ns, "Deployment", "web");
    expect(spec.template.spec.schedulerName).toBe("default-scheduler");
    await scene.namespace.secret("db", { password: "1" });
    expect(await newHash(cluster, ns, "Deployment", "web")).toMatch(/^v2:/);
  });

  it("is scheduled if the annotation scheduling-hold is off", async () => {
    const container = { name: "app", image: "nginx", envFrom: [{ secretRef: { name: "later" } }] };
    const schedulerOf = async (name: string) =>
      (await getWorkload(cluster, ns, "Deployment", name)).spec.template.spec.schedulerName;
    const annotations = { ...optIn, "wave.pusher.com/scheduling-hold": "off" };
    await scene.namespace.create(workload("eager", { containers: [container] }, { annotations }));
    await scene.namespace.create(workload("patient", { containers: [container] }));
    expect(await schedulerOf("eager")).toBe("default-scheduler");
    expect(await schedulerOf("patient")).toBe("wave.pusher.com/invalid");
  });

  it("is never advised to have the Secret created by hand, also if an ExternalSecret makes it", async () => {
    const advice = async () => {
      const { stdout } = await promisify(execFile)(wave, [
        "doctor",
        "-n",
        ns,
        "--kubeconfig",
        cluster.kubeconfig,
      ]).catch((error: { readonly stdout: string }) => error);
      return stdout;
    };
    for (const name of ["made", "external", "manual"]) {
      const container = { name: "app", image: "nginx", envFrom: [{ secretRef: { name } }] };
      await scene.namespace.create(workload(name, { containers: [container] }));
    }
    expect(await advice()).toContain(`kubectl create secret generic made -n ${ns}`);
    await installKind(cluster, "secrets-store.csi.x-k8s.io", "SecretProviderClass");
    await installKind(cluster, "external-secrets.io", "ExternalSecret");
    const make = (group: string, kind: string, plural: string, name: string, spec: object) =>
      cluster.api("POST", `/apis/${group}/v1/namespaces/${ns}/${plural}`, {
        ...{ apiVersion: `${group}/v1`, kind, spec },
        metadata: { name },
      });
    await make("secrets-store.csi.x-k8s.io", "SecretProviderClass", "secretproviderclasses", "vault", {
      secretObjects: [{ secretName: "made" }],
    });
    await make("external-secrets.io", "ExternalSecret", "externalsecrets", "sync", { target: { name: "external" } });
    const out = await advice();
    expect(out).toContain(`kubectl describe secretproviderclasses.secrets-store.csi.x-k8s.io vault -n ${ns}`);
    expect(out).toContain(`kubectl describe externalsecrets.external-secrets.io sync -n ${ns}`);
    expect(out).toContain(`kubectl create secret generic manual -n ${ns}`);
    expect(out).not.toMatch(/kubectl create secret generic (made|external) /);
  });
});
