import { expect, it } from "vitest";
import { helm } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { chart, manifestsIn } from "./rendered.ts";

/** Fields whose value is always a name in a manifest. */
const names = ["name", "namespace", "serviceAccountName", "app.kubernetes.io/instance", "resourceNames"];

/** Returns the fields of this kind in a manifest whose value is not text, with their values. */
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

  // Text that YAML reads as a boolean, a number or null can be a name: the code of Norway, or the number of a customer.
  it.for([
    ["no", "123"],
    ["1e3", "on"],
    ["0x1f", "null"],
  ] as const)(
    "can be installed as %s in the namespace %s, and watch namespaces with such names",
    async ([release, namespace]) => {
      const args = ["template", release, chart, "-n", namespace, "--kube-version", "1.30.0"];
      const set = [...everything.flatMap((values) => ["--set", values]), "--set-json", 'namespaces=["no","123"]'];
      const manifests = manifestsIn(await helm(cluster, [...args, ...set]));
      expect(manifests.length).toBeGreaterThan(20);
      expect(manifests.flatMap(notText)).toEqual([]);
    },
  );
});
