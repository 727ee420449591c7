import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { freePort, until } from "../control-plane/wave-process.ts";

/** One series of a response, with its value at the requested moment. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** One series of a response, with its values in a time range. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Times in seconds since 1970, and numbers as text, which can be "NaN". */
  readonly values: readonly (readonly [number, string])[];
}

/** A time range, in seconds since 1970, and the seconds between two values. */
export interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** An alert that is pending or fires. */
export interface Alert {
  readonly state: "pending" | "firing";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A real Prometheus. */
export interface Prometheus {
  readonly url: string;
  /** Returns the current result of a query. Rejects if the query is not PromQL. */
  readonly query: (expr: string) => Promise<readonly Sample[]>;
  /** Returns the result of a query at each step of a time range. */
  readonly queryRange: (expr: string, range: Range) => Promise<readonly Series[]>;
  /** Returns the alerts that fire now, by name. */
  readonly firing: () => Promise<ReadonlyMap<string, Alert>>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a Prometheus in a new folder that scrapes a Wave every second like the monitors of the chart, with the labels
 * of a Pod, and evaluates these rules every second. Resolves after the first scrape.
 */
export async function startPrometheus(target: { readonly port: number }, rules: string): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "wave-prometheus-"));
  const labels = { namespace: "wave-system", pod: "wave-0" };
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: ["rules.yaml"],
    scrape_configs: [{ job_name: "wave", static_configs: [{ targets: [`127.0.0.1:${target.port}`], labels }] }],
  };
  writeFileSync(join(folder, "prometheus.yaml"), stringify(config));
  writeFileSync(join(folder, "rules.yaml"), rules);
  const url = `http://127.0.0.1:${await freePort()}`;
  const args = [
    `--config.file=${folder}/prometheus.yaml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=${url.slice("http://".length)}`,
  ];
  const child = spawn("prometheus", args, { stdio: ["ignore", "ignore", "pipe"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log = `${log}${chunk.toString()}`.slice(-4_000);
  });
  const ask = async <T>(path: string): Promise<T> => {
    const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as Answer<T>;
    if (answer.status !== "success") throw new Error(`Prometheus: ${answer.error}`);
    return answer.data;
  };
  const query = async (expr: string) =>
    (await ask<{ readonly result: readonly Sample[] }>(`query?query=${encodeURIComponent(expr)}`)).result;
  const queryRange = async (expr: string, { start, end, step }: Range) => {
    const path = `query_range?query=${encodeURIComponent(expr)}&start=${start}&end=${end}&step=${step}`;
    return (await ask<{ readonly result: readonly Series[] }>(path)).result;
  };
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true });
  };
  try {
    await until("Prometheus to have scraped Wave", async () =>
      (await query('up{job="wave"} == 1')).length > 0 ? true : undefined,
    );
  } catch (error) {
    await stop();
    throw new Error(`Prometheus does not scrape; its log ends with:\n${log}`, { cause: error });
  }
  return {
    url,
    query,
    queryRange,
    firing: async () => {
      const { alerts } = await ask<{ readonly alerts: readonly Alert[] }>("alerts");
      return new Map(
        alerts.filter(({ state }) => state === "firing").map((alert) => [alert.labels.alertname ?? "", alert]),
      );
    },
    stop,
  };
}

type Answer<T> =
  | { readonly status: "success"; readonly data: T }
  | { readonly status: "error"; readonly error: string };
