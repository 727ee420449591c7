import { expect, it } from "vitest";
import { helm } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { chart, manifestsIn } from "./rendered.ts";

/** Fields that have a name wherever they are in a manifest. */
const names = ["name", "namespace", "serviceAccountName", "app.kubernetes.io/instance", "resourceNames"];

/** Such fields in a manifest that have anything but text, with their values. */
function notText(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([field, each]) => {
    const wrong = [each].flat().some((name) => typeof name !== "string");
    return [...(names.includes(field) && wrong ? [{ [field]: each }] : []), ...notText(each)];
  });
}

describeOnControlPlane("the chart", (cluster) => {
  const everything = [
    "webhooks.enabled=true,accountPolicy.enabled=true,hashKeySecret=key,networkPolicy.enabled=true",
    "metrics.serviceMonitor.enabled=true,metrics.podMonitor.enabled=true",
  ];

  // What YAML takes for a boolean, a number or nothing at all may well be a name: Norway's, or a customer's number.
  it.for([
    ["no", "123"],
    ["1e3", "on"],
    ["0x1f", "null"],
  ] as const)(
    "may be installed as %s in the namespace %s, for namespaces of such names",
    async ([release, namespace]) => {
      const args = ["template", release, chart, "-n", namespace, "--kube-version", "1.30.0"];
      const set = [...everything.flatMap((values) => ["--set", values]), "--set-json", 'namespaces=["no","123"]'];
      const manifests = manifestsIn(await helm(cluster, [...args, ...set]));
      expect(manifests.length).toBeGreaterThan(20);
      expect(manifests.flatMap(notText)).toEqual([]);
    },
  );
});
