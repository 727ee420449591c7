import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { configurations } from "../test/admission/admitted.ts";
import { type Cluster, connect } from "../test/control-plane/cluster.ts";
import { startControlPlane } from "../test/control-plane/control-plane.ts";
import { freePort, startWave } from "../test/control-plane/wave-process.ts";
import { makeNamespace, workloadPath } from "../test/end-to-end/objects.ts";
import { type Measured, measuredOf, startLoadProcess } from "./load.ts";
import { times } from "./plane.ts";
import { startRelistingWave } from "./relisting-wave.ts";
import { deployment, names, ns, pathsOf, reviewOf } from "./reviewed-workloads.ts";

/** Milliseconds of one kind of request, sent by so many senders at once. */
export interface Latency extends Measured {
  readonly title: string;
  readonly concurrency: number;
  /** The reads that a review needs, sent alone under the same conditions and by as many senders. */
  readonly bare?: Measured;
}

/** What admission costs. Memory in MiB, of the whole process after all of that, as the kernel counts it. */
export interface AdmissionFigures {
  readonly latencies: readonly Latency[];
  readonly resident: number;
  readonly anonymous: number;
}

/** How much is measured. */
export interface AdmissionCounts {
  /** Of 4 KiB each, which are listed over and over. */
  readonly secrets: number;
  /** For each line of the figures. */
  readonly reviews: number;
}

/**
 * Measures reviews of a CREATE with two references, sent to Wave as the API server sends them, on a control plane of its
 * own: at rest, while Secrets are created at a steady rate, and while Wave lists `secrets` Secrets again and again.
 * Those of one workload share the reads of its two objects, those of 64 workloads share none. Beside them the reads
 * alone, and what the webhook adds to a create.
 */
export async function measureAdmission(
  { secrets, reviews }: AdmissionCounts,
  say: (line: string) => void = () => {},
): Promise<AdmissionFigures> {
  // No controller acts on the created objects, so that only Wave and the API server use the machine.
  const plane = await startControlPlane({ workloads: false });
  const cluster = connect(plane);
  const load = startLoadProcess();
  const latencies: Latency[] = [];
  try {
    const namespace = await makeNamespace(cluster, ns);
    for (const name of names) {
      await namespace.configMap(name, { a: "1" });
      await namespace.secret(name, { a: "1" });
    }
    const server = apiServerOf(cluster.kubeconfig);
    const count = reviews;

    const note = (latency: Latency) => {
      latencies.push(latency);
      say(lineOf(latency));
    };
    const compare = async (title: string, concurrency: number, port: number, warmUp = false) => {
      const wave = await serverOf(cluster, port);
      const sent = { concurrency, count };
      const bare = await load.run({ ...sent, ...server, send: "reads", texts: names.map(pathsOf) });
      for (const workloads of [1, names.length]) {
        const texts = names.slice(0, workloads).map(reviewOf);
        const reviewed = await load.run({ ...sent, ...wave, send: "reviews", texts });
        const of = workloads === 1 ? "1 workload" : `${workloads} workloads`;
        if (!warmUp) note({ title: `${title}, ${of}`, concurrency, ...reviewed, bare });
      }
    };

    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    const webhook = ["--enable-webhooks", `--webhook-bind-address=${address}`, `--webhook-url=https://${address}`];
    const wave = await startWave(["--kubeconfig", cluster.kubeconfig, "--webhook-service-name=bench", ...webhook]);
    let memory: { readonly resident: number; readonly anonymous: number };
    try {
      await compare("", 16, port, true);
      for (const concurrency of [1, 16, 64]) await compare("at rest", concurrency, port);
      const creating = createSteadily(cluster, secretsASecond);
      for (const concurrency of [1, 16]) await compare(`${secretsASecond} Secrets a second`, concurrency, port);
      await creating.stop();
      for (const concurrency of [1, 16]) {
        const created = (optIn: string) => creates(cluster, optIn, concurrency, count / 4);
        note({ title: "create, the workload opted out", concurrency, ...(await created("false")) });
        note({ title: "create, admitted by Wave", concurrency, ...(await created("true")) });
      }
      memory = memoryOf(wave.process.pid);
    } finally {
      await wave.stop();
    }

    await times(secrets, 16, (index) => createSecret(cluster, `listed-${index}`));
    const relistingPort = await freePort();
    const relisting = await startRelistingWave({ kubeconfig: cluster.kubeconfig, namespace: ns, port: relistingPort });
    try {
      await compare("", 16, relistingPort, true);
      for (const concurrency of [1, 16]) {
        const { lists } = await relisting.relisted();
        await compare(`while ${secrets} Secrets are listed`, concurrency, relistingPort);
        const after = await relisting.relisted();
        say(`  lists meanwhile: ${after.lists - lists}; the longest turn: ${after.longestTurn.toFixed(1)} ms`);
      }
    } finally {
      await relisting.stop();
    }
    return { latencies, ...memory };
  } finally {
    load.stop();
    cluster.close();
    await plane.stop();
  }
}

/** The figures as a table in Markdown. */
export function admissionTable({ latencies, resident, anonymous }: AdmissionFigures): string {
  const rows = latencies.map(({ title, concurrency, p50, p99, perSecond, bare }) => {
    const reads = bare ? `${bare.p50.toFixed(1)} / ${bare.p99.toFixed(1)} | ${(p50 / bare.p50).toFixed(1)}` : " | ";
    return `| ${title} | ${concurrency} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${perSecond.toFixed(0)} | ${reads} |`;
  });
  return [
    "| Reviews with two references | at once | p50 ms | p99 ms | a second | the two reads alone, p50 / p99 ms | p50 ratio |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows,
    "",
    `Memory after that: ${resident.toFixed(0)} MiB resident, ${anonymous.toFixed(0)} anonymous.`,
  ].join("\n");
}

function lineOf({ title, concurrency, p50, p99, perSecond, bare }: Latency): string {
  const text = ({ p50, p99, perSecond }: Measured) =>
    `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${perSecond.toFixed(0)} a second`;
  const reads = bare ? `; the reads alone ${text(bare)}; p50 ratio ${(p50 / bare.p50).toFixed(1)}` : "";
  return `${title}, ${concurrency} at once: ${text({ p50, p99, perSecond })}${reads}`;
}

/** A rate at which the API server still has time for others. */
const secretsASecond = 50;

const blob = Buffer.alloc(4096, "x").toString("base64");

function createSecret(cluster: Cluster, name: string): Promise<unknown> {
  return cluster.api("POST", `/api/v1/namespaces/${ns}/secrets`, { metadata: { name }, data: { blob } });
}

function createSteadily(cluster: Cluster, perSecond: number): { readonly stop: () => Promise<unknown> } {
  const created: Promise<unknown>[] = [];
  const timer = setInterval(() => created.push(createSecret(cluster, `new-${created.length}`)), 1000 / perSecond);
  const stop = () => {
    clearInterval(timer);
    return Promise.all(created);
  };
  return { stop };
}

/** Creates Deployments that are checked and admitted, but not stored. */
async function creates(cluster: Cluster, optIn: string, concurrency: number, count: number): Promise<Measured> {
  const milliseconds: number[] = [];
  const begin = performance.now();
  await times(count, concurrency, async (index) => {
    const start = performance.now();
    const object = deployment(names[index % names.length] ?? "", optIn);
    await cluster.api("POST", `${workloadPath(ns, "Deployment")}?dryRun=All`, object);
    milliseconds.push(performance.now() - start);
  });
  return measuredOf(milliseconds, begin);
}

/** Where the API server serves, and with what an administrator reads there. */
function apiServerOf(kubeconfig: string) {
  const { clusters, users } = parse(readFileSync(kubeconfig, "utf8")) as {
    readonly clusters: readonly [{ readonly cluster: { server: string; "certificate-authority-data": string } }];
    readonly users: readonly [{ readonly user: { readonly token: string } }];
  };
  const { server, "certificate-authority-data": authority } = clusters[0].cluster;
  return { url: server, authority: Buffer.from(authority, "base64").toString(), token: users[0].user.token };
}

/** Where Wave serves, and what the API server trusts there. */
async function serverOf(cluster: Cluster, port: number) {
  const { webhooks } = await cluster.api<{ webhooks: readonly { clientConfig: { url: string; caBundle: string } }[] }>(
    "GET",
    `${configurations}/wave-127.0.0.1-${port}`,
  );
  const { url = "", caBundle = "" } = webhooks[0]?.clientConfig ?? {};
  return { url, authority: Buffer.from(caBundle, "base64").toString(), token: "" };
}

function memoryOf(pid = 0): { readonly resident: number; readonly anonymous: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
  return { resident: mebibytes("VmRSS"), anonymous: mebibytes("RssAnon") };
}

if (import.meta.main) {
  const count = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
  const counts = { secrets: count("SECRETS", 20_000), reviews: count("REVIEWS", 4000) };
  console.log(admissionTable(await measureAdmission(counts, console.log)));
}
