import type { PodSpec } from "#kubernetes";
import { pinnedAnnotation } from "../../src/domain/references/annotations.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { createAuthority, issueServingCertificate } from "../../src/webhook/certificates/certificates.ts";
import { pathWith, tokenOf } from "../../src/webhook/certificates/path-token.ts";
import { type Reviewer, serveAdmission } from "../../src/webhook/server/server.ts";
import { configurations, helm } from "../admission/admitted.ts";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { chart, policyApi } from "../deploy/rendered.ts";

/** A Pod in the form in which the API server returns it. */
export type CreatedPod = AnyObject & { readonly spec: PodSpec };

/** Sends a Pod without storing it. Returns the Pod as the API server would store it. */
export function createdPod(
  cluster: Cluster,
  namespace: string,
  spec: PodSpec,
  annotations: Record<string, string> = {},
) {
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", annotations }, spec };
  return cluster.api<CreatedPod>("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, body);
}

/** A Pod that reads ConfigMap "web", to see whether Pods are pointed. */
const probe: PodSpec = {
  containers: [{ name: "app", image: "app", envFrom: [{ configMapRef: { name: "web" } }] }],
};

/**
 * Waits until the API server creates Pods in a namespace that read their copies, or that read live configuration, or both ("any").
 */
export async function pointsPods(
  cluster: Cluster,
  namespace: string,
  wanted: "copies" | "live" | "any" = "copies",
): Promise<void> {
  await until(`Pods of ${namespace} to read ${wanted}`, async () => {
    const { spec } = await createdPod(cluster, namespace, probe, { [pinnedAnnotation]: "web=web-0123456789" });
    const { name } = spec.containers[0]?.envFrom?.[0]?.configMapRef ?? {};
    const read = name === "web-0123456789" ? "copies" : "live";
    return wanted === "any" || wanted === read ? true : undefined;
  });
}

/** Renders the policies of the chart, as Helm does on a Kubernetes with MutatingAdmissionPolicy. */
export function policies(cluster: Cluster, release: string, values: string): Promise<string> {
  const version = ["--kube-version", "1.36.0", "--api-versions", policyApi];
  const template = ["-s", "templates/pinning.yaml", "--set", `pinConfig.enabled=true,${values}`];
  return helm(cluster, ["template", release, chart, "-n", `${release}-system`, ...version, ...template]);
}

/** A webhook in this process that the API server can call. */
export interface TestWebhook {
  /** The address and the certificate authority, as a MutatingWebhookConfiguration has them. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
  readonly close: () => Promise<void>;
}

/** Serves reviews in this process. */
export async function serveReviews(review: Reviewer): Promise<TestWebhook> {
  const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const authority = createAuthority("authority", validity);
  const { certificate, key } = issueServingCertificate(authority, ["127.0.0.1"], validity);
  const server = await serveAdmission({
    address: "127.0.0.1:0",
    served: { certificate: certificate.pem, key, tokens: [tokenOf(authority)] },
    review,
    clock: systemClock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
  });
  const caBundle = Buffer.from(authority.certificate.pem).toString("base64");
  const url = `https://127.0.0.1:${server.port}${pathWith(tokenOf(authority))}`;
  return { clientConfig: { url, caBundle }, close: () => server.close() };
}

/** Registers a webhook for new Pods of some namespaces that adds a sidecar. It is called after all webhooks of Wave. */
export async function registerInjector(cluster: Cluster, name: string, namespaces: readonly string[], sidecar: object) {
  const injector = await serveReviews(async ({ object }) => {
    const { spec } = object as unknown as CreatedPod;
    const isThere = spec.containers.some((container) => container.name === "sidecar");
    const patch = [{ op: "add" as const, path: "/spec/containers/-", value: { name: "sidecar", ...sidecar } }];
    return { patch: isThere ? undefined : patch, warnings: [] };
  });
  await cluster.api("POST", configurations, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name },
    webhooks: [
      {
        name: "sidecars.example.com",
        admissionReviewVersions: ["v1"],
        clientConfig: injector.clientConfig,
        rules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "Namespaced" },
        ],
        objectSelector: { matchLabels: { inject: "true" } },
        namespaceSelector: {
          matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: namespaces }],
        },
        sideEffects: "None",
        failurePolicy: "Fail",
      },
    ],
  });
  return injector;
}
