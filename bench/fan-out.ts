import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { resourcePath, resources } from "../src/kube/api/resources.ts";
import { readAuditLog } from "../test/control-plane/control-plane.ts";
import { startWave, until } from "../test/control-plane/wave-process.ts";
import { createDeployment, type Plane, quantile, startPlane, times } from "./plane.ts";
import { watchHashes } from "./recorded-hashes.ts";

/** One ConfigMap that so many Deployments read. Milliseconds, medians of several rounds. */
export interface FanOutFigures {
  readonly deployments: number;
  /** From the answer to the edit until a watch shows the last patched Deployment. */
  readonly wave: number;
  /** As many bare PATCHes, sent by a loop with the concurrency that is fastest: what the server can do. */
  readonly limit: number;
  readonly bestConcurrency: number;
  /** Requests of Wave for one edit, by verb and resource. */
  readonly requests: Readonly<Record<string, number>>;
}

const namespace = "fan-out";
const rounds = 5;
const concurrencies = [8, 16, 32, 64];

/** Alternates between Wave and the bare loop, on the same Deployments, so that both have the same server. */
export async function measureFanOut(deployments: number): Promise<FanOutFigures> {
  const plane = await startPlane([namespace]);
  const { client } = plane;
  const session = bareSession(plane);
  try {
    const path = resourcePath(resources.configMaps, { namespace });
    await client.request({ method: "POST", path, body: { metadata: { name: "all" }, data: { a: "0" } } });
    await times(deployments, 32, (index) => createDeployment(client, namespace, `app-${index}`, { configMap: "all" }));
    const hashes = await watchHashes(client, namespace);
    let patched = hashes.changed(deployments);
    const args = [`--kubeconfig=${plane.jsonKubeconfig}`, "--update-rate=unlimited", "--log-level=warn"];
    const wave = await startWave(args);
    await patched;

    const milliseconds: number[] = [];
    const limits = new Map(concurrencies.map((concurrency) => [concurrency, [] as number[]]));
    let edited = 0;
    for (let round = 0; round < rounds; round++) {
      patched = hashes.changed(deployments);
      await client.request({ method: "PATCH", path: `${path}/all`, body: { data: { a: String(++edited) } } });
      const answered = performance.now();
      milliseconds.push((await patched) - answered);
      await eventsWritten(plane, deployments * (edited + 1));
      // Wave would put back its hash at once: the loop writes another annotation of the pod template.
      for (const [concurrency, times] of limits) {
        times.push(await bareLoop(session, deployments, concurrency, `${round}-${concurrency}`));
      }
    }
    await wave.stop();
    hashes.stop();
    const best = [...limits].map(([concurrency, times]) => ({ concurrency, limit: quantile(times, 0.5) }));
    const { concurrency, limit } = best.reduce((a, b) => (a.limit <= b.limit ? a : b));
    return {
      deployments,
      wave: quantile(milliseconds, 0.5),
      limit,
      bestConcurrency: concurrency,
      requests: perEdit(plane, edited),
    };
  } finally {
    session.session.close();
    await plane.stop();
  }
}

interface Bare {
  readonly session: ClientHttp2Session;
  readonly authorization: string;
}

/** node:http2 and nothing else. */
function bareSession({ jsonKubeconfig }: Plane): Bare {
  const { clusters, users } = JSON.parse(readFileSync(jsonKubeconfig, "utf8"));
  const { server, "certificate-authority-data": ca } = clusters[0].cluster;
  const session = connect(server, { ca: Buffer.from(ca, "base64") });
  return { session, authorization: `Bearer ${users[0].user.token}` };
}

async function bareLoop({ session, authorization }: Bare, count: number, concurrency: number, value: string) {
  const begin = performance.now();
  await times(count, concurrency, (index) => {
    const stream = session.request({
      ":method": "PATCH",
      ":path": resourcePath(resources.deployments, { namespace, name: `app-${index}` }),
      authorization,
      "content-type": "application/json-patch+json",
    });
    const op = { op: "add", path: "/spec/template/metadata/annotations/bench", value };
    stream.end(JSON.stringify([op]));
    stream.resume();
    return new Promise((resolve, reject) => {
      stream.once(
        "response",
        (headers) => headers[":status"] !== 200 && reject(new Error(`status ${headers[":status"]}`)),
      );
      stream.once("end", resolve);
      stream.once("error", reject);
    });
  });
  return performance.now() - begin;
}

const writesOfWave = ({ auditLog }: Plane) =>
  readAuditLog(auditLog).filter(
    ({ userAgent, objectRef, verb }) =>
      userAgent?.startsWith("wave/") && objectRef?.namespace === namespace && verb !== "watch" && verb !== "list",
  );

/** The next round must not be measured while Wave still reports the previous one. */
async function eventsWritten(plane: Plane, count: number): Promise<void> {
  await until(`${count} Events`, async () => {
    const events = writesOfWave(plane).filter(({ objectRef }) => objectRef?.resource === "events");
    return events.length >= count ? true : undefined;
  });
}

function perEdit(plane: Plane, edits: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verb, objectRef } of writesOfWave(plane)) {
    const what = `${objectRef?.resource === "events" ? "write" : verb} ${objectRef?.resource}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  // The first hash is one more write of each Deployment.
  return Object.fromEntries(Object.entries(counts).map(([what, count]) => [what, count / (edits + 1)]));
}
