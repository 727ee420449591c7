import { connect } from "../test/control-plane/cluster.ts";
import { startControlPlane } from "../test/control-plane/control-plane.ts";
import { until } from "../test/control-plane/wave-process.ts";
import { container, makeNamespace, workload } from "../test/end-to-end/objects.ts";
import { type Fleet, startFleet } from "../test/high-availability/fleet.ts";

/** The times without a write after a leader ended, in milliseconds, ascending. */
export interface HandOver {
  readonly signal: "SIGTERM" | "SIGKILL";
  readonly milliseconds: readonly number[];
}

const ns = "hand-over";
const timings = { lease: 15, renew: 10, retry: 2 };

/**
 * Ends the leader of three replicas again and again, by default 20 times by SIGTERM and 10 times outright, and edits a
 * ConfigMap right after: what is measured is from the signal to the patched workload, as a user sees it.
 */
export async function measureHandOver(
  counts: { readonly SIGTERM: number; readonly SIGKILL: number } = { SIGTERM: 20, SIGKILL: 10 },
  say: (line: string) => void = () => {},
): Promise<readonly HandOver[]> {
  const plane = await startControlPlane();
  const cluster = connect(plane);
  let fleet: Fleet | undefined;
  try {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { edit: "0" });
    await namespace.create(
      workload("app", { containers: [{ ...container, envFrom: [{ configMapRef: { name: "app" } }] }] }),
    );
    fleet = await startFleet({ cluster, namespace: ns, size: 3, timings });
    const hash = async () => {
      const { spec } = await cluster.api<Patched>("GET", `/apis/apps/v1/namespaces/${ns}/deployments/app`);
      return spec.template.metadata.annotations?.["wave.pusher.com/config-hash"];
    };
    let before = await until("the first hash", hash, 60_000);
    const results: HandOver[] = [];
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      const milliseconds: number[] = [];
      for (let round = 0; round < counts[signal]; round++) {
        const leader = await fleet.nextLeader([], 60_000);
        // At another moment between two renewals each time.
        await new Promise((resolve) => setTimeout(resolve, 2_500 + ((round * 730) % 2_000)));
        const start = performance.now();
        const ended = leader.wave.stop(signal);
        // Late enough that it is never the old leader that rolls it.
        await new Promise((resolve) => setTimeout(resolve, 20));
        await namespace.edit("ConfigMap", "app", { edit: `${signal} ${round}` });
        before = await until("the edit to be rolled", async () => {
          const now = await hash();
          return now === before ? undefined : now;
        });
        milliseconds.push(performance.now() - start);
        say(`${signal} ${round + 1}: ${milliseconds.at(-1)?.toFixed(0)} ms`);
        await ended;
        await fleet.replace(leader);
      }
      results.push({ signal, milliseconds: milliseconds.toSorted((a, b) => a - b) });
    }
    return results;
  } finally {
    await fleet?.close();
    cluster.close();
    await plane.stop();
  }
}

interface Patched {
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
}

if (import.meta.main) {
  const count = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
  const counts = { SIGTERM: count("SIGTERM", 20), SIGKILL: count("SIGKILL", 10) };
  for (const { signal, milliseconds } of await measureHandOver(counts, console.error)) {
    const p50 = milliseconds[Math.floor((milliseconds.length - 1) / 2)] ?? Number.NaN;
    const max = milliseconds.at(-1) ?? Number.NaN;
    console.log(`${signal}: p50 ${p50.toFixed(0)} ms, max ${max.toFixed(0)} ms of ${milliseconds.length}`);
  }
}
