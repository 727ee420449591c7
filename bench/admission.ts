import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { type Scene, startScene } from "../test/admission/admitted.ts";
import { connect } from "../test/control-plane/cluster.ts";
import { startControlPlane } from "../test/control-plane/control-plane.ts";
import { workload, workloadPath } from "../test/end-to-end/objects.ts";

/** Milliseconds of one kind of request, sent by so many senders at once. */
export interface Latency {
  readonly title: string;
  readonly concurrency: number;
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

/** What admission costs. Memory in MiB, of the whole process, as the kernel counts it. */
export interface AdmissionFigures {
  readonly latencies: readonly Latency[];
  readonly resident: number;
  readonly anonymous: number;
}

const ns = "admission-bench";
const podSpec = {
  containers: [
    { name: "app", image: "nginx", envFrom: [{ configMapRef: { name: "page" } }, { secretRef: { name: "password" } }] },
  ],
};

/**
 * Measures reviews of a CREATE with two references, sent to Wave as the API server sends them (at rest, and while
 * `secrets` Secrets of 4 KiB are created and synced), and what a webhook adds to a create on the API server.
 */
export async function measureAdmission(
  { secrets, reviews }: { readonly secrets: number; readonly reviews: number },
  say: (line: string) => void = () => {},
): Promise<AdmissionFigures> {
  const plane = await startControlPlane();
  const cluster = connect(plane);
  let scene: Scene | undefined;
  try {
    scene = await startScene(cluster, ns, { webhooks: true });
    await scene.namespace.configMap("page", { a: "1" });
    await scene.namespace.secret("password", { a: "1" });
    const review = await reviewer(scene);
    const latencies: Latency[] = [];
    const note = (latency: Latency) => {
      latencies.push(latency);
      say(line(latency));
    };

    await measure("warming up", 16, reviews, review.send);
    for (const concurrency of [1, 16, 64]) note(await measure("review", concurrency, reviews, review.send));
    let syncing = true;
    const created = createSecrets(scene, secrets).finally(() => {
      syncing = false;
    });
    note(await measure(`review while ${secrets} Secrets are synced`, 16, () => syncing, review.send));
    await created;
    for (const [title, optIn] of [
      ["create, not Wave's", "false"],
      ["create, admitted by Wave", "true"],
    ] as const) {
      note(await measure(title, 1, reviews / 4, dryRun(scene, optIn)));
    }
    review.close();
    return { latencies, ...memoryOf(scene.wave.process.pid) };
  } finally {
    await scene?.wave.stop();
    cluster.close();
    await plane.stop();
  }
}

/** Sends reviews to Wave over connections that are kept, trusting what the API server trusts. */
async function reviewer({ cluster, configuration }: Scene) {
  const { webhooks } = await cluster.api<{ webhooks: readonly { clientConfig: { url: string; caBundle: string } }[] }>(
    "GET",
    `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${configuration}`,
  );
  const { url = "", caBundle = "" } = webhooks[0]?.clientConfig ?? {};
  const agent = new Agent({ keepAlive: true, maxSockets: 64, ca: Buffer.from(caBundle, "base64") });
  const { metadata, ...rest } = workload("web", podSpec);
  const body = JSON.stringify({
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid: "bench",
      operation: "CREATE",
      kind: { group: "apps", version: "v1", kind: "Deployment" },
      namespace: ns,
      name: "web",
      object: { ...rest, metadata: { ...metadata, namespace: ns } },
    },
  });
  const send = async () => {
    const sent = request(url, { method: "POST", agent, headers: { "Content-Type": "application/json" } });
    sent.end(body);
    const [response] = await once(sent, "response");
    let text = "";
    for await (const chunk of response) text += chunk;
    if (!text.includes('"patch"')) throw new Error(`a review was not answered with a patch: ${text}`);
  };
  return { send, close: () => agent.destroy() };
}

/** Creates a Deployment that is checked and admitted, but not stored. */
function dryRun({ cluster }: Scene, optIn: string): () => Promise<unknown> {
  const annotations = { "wave.pusher.com/update-on-config-change": optIn };
  const path = `${workloadPath(ns, "Deployment")}?dryRun=All`;
  return () => cluster.api("POST", path, workload("web", podSpec, { annotations }));
}

async function createSecrets({ cluster }: Scene, count: number): Promise<void> {
  const data = { blob: Buffer.alloc(4096, "x").toString("base64") };
  let next = 0;
  const create = async () => {
    for (let index = next++; index < count; index = next++) {
      await cluster.api("POST", `/api/v1/namespaces/${ns}/secrets`, { metadata: { name: `secret-${index}` }, data });
    }
  };
  await Promise.all(Array.from({ length: 8 }, create));
}

/** Sends until so many are answered, or as long as `goOn` says. */
async function measure(
  title: string,
  concurrency: number,
  goOn: number | (() => boolean),
  send: () => Promise<unknown>,
): Promise<Latency> {
  const milliseconds: number[] = [];
  let begun = 0;
  const more = () => (typeof goOn === "number" ? begun++ < goOn : goOn());
  const begin = performance.now();
  const sender = async () => {
    while (more()) {
      const start = performance.now();
      await send();
      milliseconds.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  const perSecond = (sorted.length / (performance.now() - begin)) * 1000;
  return { title, concurrency, p50: at(0.5), p99: at(0.99), perSecond };
}

function memoryOf(pid = 0): { readonly resident: number; readonly anonymous: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
  return { resident: mebibytes("VmRSS"), anonymous: mebibytes("RssAnon") };
}

function line({ title, concurrency, p50, p99, perSecond }: Latency): string {
  return `${title}, ${concurrency} at once: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${perSecond.toFixed(0)} a second`;
}

if (import.meta.main) {
  const count = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
  const counts = { secrets: count("SECRETS", 20_000), reviews: count("REVIEWS", 4000) };
  const { resident, anonymous } = await measureAdmission(counts, console.log);
  console.log(`memory after that: ${resident.toFixed(0)} MiB resident, ${anonymous.toFixed(0)} anonymous`);
}
