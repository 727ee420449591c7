import { globSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { chartValues } from "../../deploy/values/chart-values.ts";
import { generatedFiles } from "../../deploy/values/generated.ts";
import { renderedFiles } from "../../deploy/values/manifests.ts";
import { helm } from "../admission/admitted.ts";
import { describeOnControlPlane, describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { temporaryFiles } from "../support/kube/files.ts";
import { chart, deploy, type Manifest, manifestsIn, ofKind, only, policyApi, rendered } from "./rendered.ts";

/** Returns the objects that kustomize builds, without the Namespace, which Helm does not install. */
const withoutNamespace = (built: string) => manifestsIn(built).filter(({ kind }) => kind !== "Namespace");

const read = (path: string) => readFileSync(join(deploy, path), "utf8");

describe("the files generated from tables", () => {
  it.for(Object.entries(generatedFiles()))("include deploy/%s as `npm run chart` writes it", ([path, text]) => {
    expect(read(path)).toBe(text);
  });

  it("have no value that no template reads", () => {
    const templates = globSync("chart/templates/**", { cwd: deploy, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("\n");
    const last = (path: string) => path.split(".").at(-1);
    const unread = chartValues.filter(({ path }) => !new RegExp(`\\.${last(path)}\\b`).test(templates));
    expect(unread.map(({ path }) => path)).toEqual([]);
  });
});

describeOnControlPlane("the rendered manifests", (cluster) => {
  it("are as `npm run chart` writes them", async () => {
    for (const [path, text] of Object.entries(await renderedFiles((args) => helm(cluster, args)))) {
      expect(read(path), path).toBe(text);
    }
  });

  it.for([
    ["base", []],
    ["webhooks", ["webhooks.enabled=true"]],
  ] as const)("is the same by kustomize/%s, which the API server accepts", async ([overlay, values]) => {
    const folder = join(deploy, "kustomize", overlay);
    const byHelm = ["helm.sh/chart", "app.kubernetes.io/managed-by"];
    const withoutHelm = JSON.stringify(await rendered(cluster, ...values), (key, value) =>
      byHelm.includes(key) ? undefined : value,
    );
    expect(withoutNamespace(await cluster.kubectl(["kustomize", folder]))).toEqual(JSON.parse(withoutHelm));
    await cluster.kubectl(["create", "namespace", "wave-system"]).catch((error: Error) => {
      if (!error.message.includes("AlreadyExists")) throw error;
    });
    const applied = await cluster.kubectl(["apply", "-k", folder, "--dry-run=server"]);
    expect(applied).toContain("deployment.apps/wave created (server dry run)");
  });

  it.for([
    ["base", []],
    ["webhooks", ["webhooks.enabled=true"]],
  ] as const)(
    "is the same by kustomize/%s with the component pinning, which the API server accepts",
    async ([overlay, values]) => {
      const pathOf = (name: string) => `../${relative(realpathSync(tmpdir()), join(deploy, "kustomize", name))}`;
      const kustomization = { resources: [pathOf(overlay)], components: [pathOf("pinning")] };
      const folder = await temporaryFiles({ "kustomization.yaml": JSON.stringify(kustomization) });
      const set = ["pinConfig.enabled=true", ...values].flatMap((value) => ["--set", value]);
      const version = ["--kube-version", "1.36.0", "--api-versions", policyApi];
      const byHelm = await helm(cluster, [
        "template",
        "wave",
        chart,
        "-n",
        "wave-system",
        "--no-hooks",
        ...version,
        ...set,
      ]);
      const withoutHelm = JSON.stringify(manifestsIn(byHelm), (key, value) =>
        ["helm.sh/chart", "app.kubernetes.io/managed-by"].includes(key) ? undefined : value,
      );
      // Flags have no order.
      const sorted = (manifests: readonly Manifest[]) =>
        JSON.parse(JSON.stringify(manifests), (key, value) => (key === "args" ? value.toSorted() : value));
      expect(sorted(withoutNamespace(await cluster.kubectl(["kustomize", folder])))).toEqual(
        sorted(JSON.parse(withoutHelm)),
      );
      const applied = await cluster.kubectl(["apply", "-k", folder, "--dry-run=server"]);
      expect(applied).toContain(
        "mutatingadmissionpolicy.admissionregistration.k8s.io/wave-pinning created (server dry run)",
      );
    },
  );

  it("can be applied as one file with the namespace", async () => {
    const file = join(deploy, "wave.yaml");
    const [namespace] = ofKind("Namespace", manifestsIn(read("wave.yaml")));
    expect(namespace?.metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" });
    // A client-side dry run, because a server-side one fails for a namespace that does not exist.
    const applied = await cluster.kubectl(["apply", "-f", file, "--dry-run=client"]);
    for (const object of ["namespace/wave-system", "deployment.apps/wave"]) expect(applied).toContain(object);
  });

  it("follow a kustomize overlay into another namespace, including webhook and bindings", async () => {
    const overlay = {
      namespace: "elsewhere",
      resources: [relative(realpathSync(tmpdir()), join(deploy, "kustomize/webhooks"))].map((path) => `../${path}`),
      images: [{ name: "wave", newName: "registry.example/wave", newTag: "1" }],
    };
    const folder = await temporaryFiles({ "kustomization.yaml": JSON.stringify(overlay) });
    const built = await cluster.kubectl(["kustomize", folder]);
    expect(built).not.toContain("wave-system");
    expect(built).toContain("image: registry.example/wave:1");
    expect(only("Namespace", manifestsIn(built)).metadata.name).toBe("elsewhere");
    const [configuration] = ofKind("MutatingWebhookConfiguration", manifestsIn(built));
    expect(configuration).toMatchObject({ webhooks: [{ clientConfig: { service: { namespace: "elsewhere" } } }] });
  });
});

describeOnOwnControlPlane("kustomize on a new cluster", (cluster) => {
  it("creates the namespace and everything in it, and removes all of it", async () => {
    const folder = join(deploy, "kustomize/webhooks");
    const applied = await cluster.kubectl(["apply", "-k", folder]);
    expect(applied).toMatch(/^namespace\/wave-system created\n/);
    expect(applied).toContain("deployment.apps/wave created\n");
    await cluster.kubectl(["delete", "-k", folder, "--wait=false"]);
    const kinds = "mutatingwebhookconfigurations,clusterroles,clusterrolebindings,namespaces";
    const left = () => cluster.kubectl(["get", kinds, "-l", "app.kubernetes.io/name=wave", "-o", "name"]);
    await until("nothing of Wave to be left", async () => ((await left()) === "" ? true : undefined));
  });
});
