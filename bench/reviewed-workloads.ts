import { workload } from "../test/end-to-end/objects.ts";

/** The namespace of everything that is reviewed. */
export const ns = "admission-bench";

/** Workloads that are reviewed in turn, each with a ConfigMap and a Secret of its own, so that no read serves two. */
export const names = Array.from({ length: 64 }, (_, index) => `web-${index}`);

/** What a review of a workload reads, as a load of "reads" has it. */
export function pathsOf(name: string): string {
  return `/api/v1/namespaces/${ns}/configmaps/${name} /api/v1/namespaces/${ns}/secrets/${name}`;
}

/** A workload with two references. */
export function deployment(name: string, optIn = "true") {
  const envFrom = [{ configMapRef: { name } }, { secretRef: { name } }];
  const annotations = { "wave.pusher.com/update-on-config-change": optIn };
  return workload(name, { containers: [{ name: "app", image: "nginx", envFrom }] }, { annotations });
}

/** What the API server asks when a workload is created. */
export function reviewOf(name: string): string {
  const { metadata, ...rest } = deployment(name);
  return JSON.stringify({
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid: "bench",
      operation: "CREATE",
      kind: { group: "apps", version: "v1", kind: "Deployment" },
      namespace: ns,
      name,
      object: { ...rest, metadata: { ...metadata, namespace: ns } },
    },
  });
}
