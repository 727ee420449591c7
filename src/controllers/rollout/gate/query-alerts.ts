// The client of the alert gate: one fixed query to Prometheus. Only the names of alerts and namespaces leave this file.
import { readFile } from "node:fs/promises";
import { maxAlertName } from "../../../domain/pacing/rollout-result.ts";
import { fieldsOf, textOf } from "../../../domain/syntax/json.ts";
import { isDnsLabel } from "../../../domain/syntax/names.ts";
import { isCertificate, noCertificate } from "../../../kube/config/cluster-access.ts";
import { tokenFileCredentials } from "../../../kube/config/credentials.ts";
import { mediaTypeOf, readBody } from "../../../kube/http/response-body.ts";
import { createHttp1Transport, type Exchange } from "../../../kube/http/transport.ts";
import { type Clock, sleep } from "../../../lib/clock.ts";
import { printable } from "../../../lib/printable.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";

/** The names of the alerts that fire, sorted, by namespace. */
export type FiringAlerts = ReadonlyMap<string, readonly string[]>;

/** Returns the alerts that fire now. Rejects with a one-line Error if Prometheus does not answer, or with something else. */
export type AlertQuery = (signal: AbortSignal) => Promise<FiringAlerts>;

/** How to reach Prometheus. */
export interface PrometheusSettings {
  readonly url: URL;
  /** File with a bearer token. Read for each query. */
  readonly tokenFile: string | undefined;
  /** File with trusted certificate authorities in PEM, read for each query; undefined: those of the machine. */
  readonly caFile: string | undefined;
}

/** Limit of the alerts of one namespace. */
export const maxAlerts = 20;

/**
 * Prometheus leaves out all other labels, and what does not fit: a tenant with ten thousand alerts, or with a name of a megabyte, cannot make the
 * answer too large for the others.
 */
export const alertQuery = `topk by (namespace) (${maxAlerts}, group by (namespace, alertname) (ALERTS{alertstate="firing",wave_gate!="",namespace=~"[a-z0-9-]{1,63}",alertname=~".{1,${maxAlertName}}"}))`;

/** Limits of a query, in milliseconds for all of it, and in bytes of the answer. */
const timeoutMs = 5_000;
const maxBytes = 4 * 2 ** 20;

/** Returns the query. Each call opens a new connection, so that replaced files take effect. Redirects are not followed: the token is for this server. */
export function createAlertQuery(
  { url, tokenFile, caFile }: PrometheusSettings,
  { clock, userAgent }: { readonly clock: Clock; readonly userAgent: string },
): AlertQuery {
  const path = `${url.pathname.replace(/\/$/, "")}/api/v1/query?query=${encodeURIComponent(alertQuery)}`;
  return async (signal) => {
    const credential = tokenFile && (await tokenFileCredentials(tokenFile, clock).current());
    const ca = caFile && (await readAuthorities(caFile));
    signal.throwIfAborted();
    const transport = createHttp1Transport(url, { insecure: false, ...(ca && { ca }) });
    const headers = { accept: "application/json", "user-agent": userAgent, ...(credential ? credential.headers : {}) };
    const exchange = transport.send({ method: "GET", path, headers, body: undefined, longLived: false });
    try {
      return await withinLimits(exchange, clock, signal);
    } finally {
      exchange.cancel(new Error("the response is no longer needed"));
      transport.close();
    }
  };
}

/** Returns the alerts of a response. Rejects after the time limit, or when the signal is aborted. */
function withinLimits(exchange: Exchange, clock: Clock, signal: AbortSignal): Promise<FiringAlerts> {
  const end = new AbortController();
  const tooLate = sleep(clock, timeoutMs, AbortSignal.any([signal, end.signal])).then(() => {
    throw new Error(`no answer within ${timeoutMs / 1000} s`);
  });
  return Promise.race([readAlerts(exchange), tooLate]).finally(() => end.abort());
}

async function readAlerts(exchange: Exchange): Promise<FiringAlerts> {
  const response = await exchange.response;
  response.body.once("error", () => {}); // of a response that is not read to its end
  const { status } = response;
  if (status >= 300 && status < 400) throw new Error(`HTTP ${status}: redirects are not followed`);
  if (status !== 200) throw new Error(`HTTP ${status}`);
  const type = mediaTypeOf(response);
  if (type !== "application/json") throw new Error(`${type || "no content type"} instead of JSON: not Prometheus`);
  const body = await readBody(response, maxBytes);
  if (body === undefined) throw new Error(`the answer exceeds ${maxBytes / 2 ** 20} MiB`);
  return parseAlerts(body.toString());
}

/**
 * Returns the alerts of an answer: at most {@link maxAlerts} printable names of each namespace. Ignores a series without both names. Throws an Error
 * without any part of the answer if it is not the result of the query.
 */
export function parseAlerts(text: string): FiringAlerts {
  const { status, data } = fieldsOf(parsed(text));
  const { resultType, result } = fieldsOf(data);
  if (status !== "success" || resultType !== "vector" || !Array.isArray(result))
    throw new Error("not the result of a Prometheus query");
  const names = new Map<string, Set<string>>();
  for (const series of result) {
    const { namespace: labeled, alertname } = fieldsOf(fieldsOf(series).metric);
    const namespace = textOf(labeled);
    const name = printable(textOf(alertname)).slice(0, maxAlertName).toWellFormed();
    if (!isDnsLabel(namespace) || name === "") continue;
    names.set(namespace, (names.get(namespace) ?? new Set()).add(name));
  }
  return new Map(Array.from(names, ([namespace, all]) => [namespace, [...all].sort().slice(0, maxAlerts)]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the message of JSON.parse quotes the text
  }
}

async function readAuthorities(file: string): Promise<string> {
  const pem = await readFile(file, "utf8").catch((error) => {
    throw new Error(`cannot read CA file ${file}: ${errorText(error)}`);
  });
  if (!isCertificate(pem)) throw new Error(`CA file ${file} ${noCertificate}`);
  return pem;
}
