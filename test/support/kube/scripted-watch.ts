import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { type KubeObject, resources } from "../../../src/kube/api/resources.ts";
import { listWatch } from "../../../src/kube/list-watch/list-watch.ts";
import type { ListWatchOptions, ReflectorEvent } from "../../../src/kube/list-watch/paged-list.ts";
import { type Clock, systemClock } from "../../../src/lib/clock.ts";
import type { Logger } from "../../../src/telemetry/logging/log.ts";
import { clientOf } from "./client.ts";
import { serveHttp } from "./server.ts";

/** A server with scripted responses to a list-watch. For tests only. */

/** A Secret of the namespace "a" as a list or watch has it. */
export const secret = (name: string, resourceVersion: string) => ({
  metadata: { name, namespace: "a", resourceVersion },
});
/** Returns a line of a watch. */
export const event = (type: string, object: object | null) => `${JSON.stringify({ type, object })}\n`;
/** Returns the line of a new Secret. */
export const added = (name: string, resourceVersion: string) => event("ADDED", secret(name, resourceVersion));
/** Returns a line with the position of the watch. */
export const bookmark = (resourceVersion: string) => event("BOOKMARK", { metadata: { resourceVersion } });
/** Returns the line that ends the initial list. */
export const endOfList = (resourceVersion: string) =>
  event("BOOKMARK", { metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } } });
/** Returns the Status of an error response. */
export const failure = (code: number, reason: string) => ({
  kind: "Status",
  status: "Failure",
  code,
  reason,
  message: "no",
});

/** Response of the server to one request. */
export type Answer = (response: ServerResponse) => void | Promise<void>;
/** A stream that the server ends. */
export const ends =
  (...lines: string[]): Answer =>
  (response) =>
    void response.end(lines.join(""));
/** A stream whose connection breaks. */
export const breaks =
  (...lines: string[]): Answer =>
  (response) =>
    void response.write(lines.join(""), () => setImmediate(() => response.destroy()));
/** A stream that stays open. */
export const goesOn =
  (...lines: string[]): Answer =>
  (response) =>
    void response.write(lines.join(""));
/** A failure with its HTTP status. */
export const refuses =
  (code: number, reason: string): Answer =>
  (response) => {
    response.writeHead(code, { "content-type": "application/json" });
    response.end(JSON.stringify(failure(code, reason)));
  };
/** A page of a list. */
export const page = (items: readonly (object | null)[], metadata: object): Answer =>
  ends(JSON.stringify({ metadata, items }));

/** The last object of each script. The test ends when it arrives. */
export const last = "last";
/** Divides all delays by 100. */
const hurriedClock: Clock = { ...systemClock, timer: (ms, callback) => systemClock.timer(ms / 100, callback) };

/** Runs a list-watch against a server with these responses, and returns requests, events and log lines. */
export const follow = (...answers: Answer[]) => followWith({}, ...answers);

/** As {@link follow}, with options of the list-watch. */
export async function followWith(
  options: Partial<Pick<ListWatchOptions, "resource" | "fieldSelector" | "shouldRelist" | "mayBeAbsent">>,
  ...answers: Answer[]
) {
  const asked: Record<string, string>[] = [];
  const server = await serveHttp((request, response) => {
    asked.push(Object.fromEntries(new URL(request.url ?? "", "http://server").searchParams));
    const answer = answers.shift() ?? refuses(500, "NoMoreAnswers");
    answer(response);
  });
  const { client, metrics } = clientOf(`http://127.0.0.1:${server.port}`);
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const logged: string[] = [];
  const keep =
    (level: string): Logger["warn"] =>
    (message, fields) =>
      void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log: Logger = { debug: () => {}, info: keep("info"), warn: keep("warn"), error: keep("error") };
  const stop = new AbortController();
  const told: string[] = [];
  const events = listWatch({
    client,
    resource: resources.secrets,
    clock: hurriedClock,
    log,
    metrics,
    signal: stop.signal,
    ...options,
  });
  for await (const each of events) {
    told.push(textOf(each));
    if ("object" in each && each.object.metadata.name === last) stop.abort();
  }
  return { asked, told, logged };
}

function textOf(each: ReflectorEvent<KubeObject>): string {
  return "object" in each ? `${each.type} ${each.object.metadata.name}` : each.type;
}

/** Returns the checked query of a watch that resumes. */
export const watching = (resourceVersion: string) => ({ watch: "true", allowWatchBookmarks: "true", resourceVersion });
/** The query of a watch that starts with a list. */
export const listing = { watch: "true", sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };
