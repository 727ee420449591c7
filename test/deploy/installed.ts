import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";
import { parse } from "yaml";
import { createAuthority, issueServingCertificate } from "../../src/webhook/certificates/certificates.ts";
import { configurations, helm } from "../admission/admitted.ts";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { freePort, startWave, type WaveProcess } from "../control-plane/wave-process.ts";
import { temporaryFiles } from "../support/kube/files.ts";
import { chart } from "./rendered.ts";

/** A release of the chart: its name in helm, its namespace and its values. */
export interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly values: readonly string[];
}

/** A Wave that runs like the container of the chart. */
export interface Replica extends WaveProcess {
  /** The port of its webhook on this machine, if it serves one. */
  readonly webhookPort: number;
}

interface WaveDeployment extends AnyObject {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly [{ readonly args: string[] }] } };
  };
}

/**
 * Starts `bin/wave` instead of a container of the release, because the Pods of kwok run no process. It has the arguments of
 * the Deployment, its service account and its namespace. Only the ports are different,
 * and unless `paced` is set, values that the release leaves at their defaults: then every change is rolled at once.
 */
export async function startReplica(
  cluster: Cluster,
  { name, namespace }: Omit<Release, "values"> & Partial<Release>,
  { paced = false }: { readonly paced?: boolean } = {},
): Promise<Replica> {
  const { spec } = await cluster.api<WaveDeployment>(
    "GET",
    `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`,
  );
  const [command, ...args] = spec.template.spec.containers[0].args;
  if (command !== "run") throw new Error(`the container runs "wave ${command}", not "wave run"`);
  const token = (await cluster.kubectl(["-n", namespace, "create", "token", name])).trim();
  const folder = await mkdtemp(join(tmpdir(), "wave-installed-"));
  const kubeconfig = join(folder, "kubeconfig");
  const admin = parse(readFileSync(cluster.kubeconfig, "utf8"));
  await writeFile(kubeconfig, JSON.stringify({ ...admin, users: [{ name: "admin", user: { token } }] }));
  const webhookPort = await freePort();
  const webhook = args.includes("--enable-webhooks=true") ? [`--webhook-bind-address=127.0.0.1:${webhookPort}`] : [];
  vi.stubEnv("POD_NAMESPACE", namespace);
  try {
    const wave = await startWave([...args, ...webhook, `--kubeconfig=${kubeconfig}`], { paced });
    return { ...wave, webhookPort };
  } finally {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  }
}

/** Gives the Pods of a release the host name of this machine, so that a replica on this machine counts as one of them. */
export async function nameHost(
  cluster: Cluster,
  { name, namespace }: Pick<Release, "name" | "namespace">,
): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
  const spec = { template: { spec: { hostname: hostname() } } };
  await cluster.api("PATCH", path, { spec }, "application/merge-patch+json");
}

/**
 * Makes the API server call that process instead of a Pod. For this, the Service must be an alias of this machine, because no other
 * kind of Service leads to this machine.
 */
export async function leadToReplica(
  cluster: Cluster,
  { name, namespace }: Release,
  { webhookPort }: Replica,
): Promise<void> {
  const spec = { type: "ExternalName", externalName: "localhost", clusterIP: null, clusterIPs: null };
  const service = `/api/v1/namespaces/${namespace}/services/${name}-webhook`;
  await cluster.api("PATCH", service, { spec }, "application/merge-patch+json");
  const port = [{ op: "add", path: "/webhooks/0/clientConfig/service/port", value: webhookPort }];
  await cluster.api("PATCH", `${configurations}/${name}-webhook`, port, "application/json-patch+json");
}

/** Returns the Secret with the authority of a release's webhook at two thirds of its lifetime, when the next authority is due. */
export function agedAuthority(release: string): object {
  const day = 86_400_000;
  const validity = { notBefore: Date.now() - 265 * day, notAfter: Date.now() + 100 * day };
  const { certificate, key } = createAuthority("wave webhook authority aged", validity);
  const data = { "tls.crt": certificate.pem, "tls.key": key, "ca.crt": certificate.pem };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: `${release}-webhook-authority`,
      namespace: release,
      labels: { "app.kubernetes.io/managed-by": "wave" },
    },
    type: "kubernetes.io/tls",
    stringData: data,
  };
}

/** Writes files for the value `webhooks.tlsDirectory` of a release: a certificate for the Service of its webhook, and a token. */
export function certificateFiles(release: string): Readonly<Record<string, string>> {
  const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const authority = createAuthority("another authority", validity);
  const { certificate, key } = issueServingCertificate(authority, [`${release}-webhook.${release}.svc`], validity);
  return { "tls.crt": certificate.pem, "tls.key": key, "ca.crt": authority.certificate.pem, token: "t".repeat(32) };
}

interface TestPod {
  readonly spec: {
    readonly containers: readonly [
      {
        readonly command: readonly string[];
        readonly args: readonly string[];
        readonly env: readonly { readonly name: string; readonly value: string }[];
      },
    ];
  };
}

/**
 * Runs the command of `helm test` on this machine, as the service account of the release. Resolves to its output; rejects if
 * it fails.
 */
export async function runTestOf(cluster: Cluster, { name, namespace, values }: Release): Promise<string> {
  const template = ["template", name, chart, "-n", namespace, "--kube-version", "1.30.0", ...values];
  const test = parse(await helm(cluster, [...template, "-s", "templates/tests/works.yaml"])) as TestPod;
  const [{ command, args, env }] = test.spec.containers;
  const token = (await cluster.kubectl(["-n", namespace, "create", "token", name])).trim();
  const admin = parse(readFileSync(cluster.kubeconfig, "utf8")).clusters[0].cluster;
  const authority = Buffer.from(admin["certificate-authority-data"], "base64").toString();
  const folder = await temporaryFiles({ token, authority });
  const server = new URL(admin.server);
  const { stdout } = await promisify(execFile)(process.execPath, [...command.slice(1), ...args], {
    env: {
      ...Object.fromEntries(env.map((each) => [each.name, each.value])),
      CA_FILE: join(folder, "authority"),
      TOKEN_FILE: join(folder, "token"),
      KUBERNETES_SERVICE_HOST: server.hostname,
      KUBERNETES_SERVICE_PORT: server.port,
    },
  });
  return stdout;
}

/** Sends a review like the API server: to the name of the Service, with the caBundle as trust. Returns the response. */
export async function reviewBy(
  { webhookPort: port }: Replica,
  { service, caBundle, path }: { service: string; caBundle: string; path: string },
  asked: object,
): Promise<{ readonly allowed: boolean; readonly patch?: string }> {
  const sent = request({
    host: "127.0.0.1",
    port,
    servername: service,
    ca: Buffer.from(caBundle, "base64"),
    method: "POST",
    path,
    agent: false,
    headers: { "content-type": "application/json" },
  });
  sent.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: asked }));
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return JSON.parse(text).response;
}
