import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { UsageError } from "../../src/cli/flags/flag-types.ts";
import { parseRunArguments } from "../../src/cli/run/run-arguments.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";

/** The last ten versions of Reloader whose module has its chart. */
const versions = Array.from({ length: 10 }, (_, index) => `v1.4.${12 + index}`);

/** Sets of values of the chart, with all that renders an argument. */
const accepted: Readonly<Record<string, object>> = {
  "the default values": {},
  "one namespace": { watchGlobally: false },
  "a list of namespaces": { watchGlobally: false, namespaces: ["team-a", "team-b"] },
  "namespaces as text": { watchGlobally: false, namespaces: "team-a,team-b" },
  "an ignored namespace": { ignoreNamespaces: "kube-system" },
  "ignored namespaces": { ignoreNamespaces: "kube-system,kube-public" },
  "quoted namespaces": { ignoreNamespaces: '\\"kube-system\\",\\"kube-public\\"' },
  "a selector of namespaces": { namespaceSelector: "env=test" },
  "several selectors of namespaces": { namespaceSelector: "env=test,team=a" },
  "a set as selector of namespaces": { namespaceSelector: "env in (test, stage)" },
  "a selector of objects": { resourceLabelSelector: "reload=yes" },
  "a key of objects": { resourceLabelSelector: "reload" },
  "no Secrets": { ignoreSecrets: true },
  "no ConfigMaps": { ignoreConfigMaps: true },
  "no Jobs": { ignoreJobs: true },
  "no CronJobs": { ignoreCronJobs: true },
  "neither Jobs nor CronJobs": { ignoreJobs: true, ignoreCronJobs: true },
  "logs as JSON": { logFormat: "json", logLevel: "warning" },
  "trace logs": { logLevel: "trace" },
  profiling: { enablePProf: true, pprofAddr: ":6060" },
  "the CSI driver": { enableCSIIntegration: true },
  "Argo Rollouts": { isArgoRollouts: true },
  "reloads of created and deleted objects": { reloadOnCreate: true, reloadOnDelete: true, syncAfterRestart: true },
  "the strategy annotations": { reloadStrategy: "annotations" },
  "the strategy env-vars": { reloadStrategy: "env-vars" },
  "all workloads": { autoReloadAll: true },
  "two replicas": { enableHA: true, deployment: { replicas: 2 } },
};

/** Sets of values that Wave refuses, and the beginning of its error. */
const refused: readonly (readonly [string, object, string])[] = [
  ["neither Secrets nor ConfigMaps", { ignoreSecrets: true, ignoreConfigMaps: true }, "--resources-to-ignore"],
  ["another name of an annotation", { custom_annotations: { auto: "example.com/auto" } }, "--auto-annotation"],
];

/** Returns the folder of a Go module; undefined if the module proxy does not offer it. */
function moduleFolder(version: string): string | undefined {
  const found = spawnSync("go", ["mod", "download", "-json", `github.com/stakater/Reloader@${version}`], {
    encoding: "utf8",
    env: { ...process.env, GOFLAGS: "-mod=mod" },
    cwd: tmpdir(),
  });
  if (found.status !== 0) return undefined;
  return (JSON.parse(found.stdout) as { readonly Dir?: string }).Dir;
}

describeCharts();

function describeCharts(): void {
  const [newest = ""] = versions.toReversed();
  if (inject("controlPlane") === undefined || moduleFolder(newest) === undefined) {
    describe.skip(`the charts of Reloader (no helm here, or no module github.com/stakater/Reloader ${newest})`);
    return;
  }
  describe.each(versions)("the chart of Reloader %s", (version) => {
    const folder = mkdtempSync(join(tmpdir(), "wave-reloader-chart-"));
    afterAll(() => rmSync(folder, { recursive: true }));
    const chart = join(moduleFolder(version) ?? "", "deployments/kubernetes/chart/reloader");
    const settingsFor = (values: object) => settingsOf(chart, values, folder);

    it.each(Object.entries(accepted))("renders arguments that Wave accepts, for %s", (_, values) => {
      expect(() => settingsFor(values)).not.toThrow();
    });

    it.each(refused)("renders arguments that Wave refuses by name, for %s", (_, values, flag) => {
      const parse = () => settingsFor(values);
      expect(parse).toThrow(UsageError);
      expect(parse).toThrow(flag);
    });
  });
}

/** Returns what Wave understands of the arguments that a chart renders for some values, beside those that docs/migration.md adds. */
function settingsOf(chart: string, reloader: object, folder: string) {
  const file = join(folder, "values.json");
  writeFileSync(file, JSON.stringify({ reloader }));
  const rendered = execFileSync(join(controlPlaneFolder(), "helm"), ["template", "reloader", chart, "--values", file], {
    encoding: "utf8",
  });
  const objects = parseAllDocuments(rendered).map((document) => document.toJS() as Rendered | null);
  const container = objects.find((object) => object?.kind === "Deployment")?.spec.template.spec.containers[0];
  const args = ["--compatibility=stakater", ...(container?.args ?? [])];
  return parseRunArguments(args, { POD_NAMESPACE: "reloader" });
}

interface Rendered {
  readonly kind: string;
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args?: readonly string[] }[] } };
  };
}
