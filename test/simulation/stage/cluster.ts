import { AsyncLocalStorage } from "node:async_hooks";
import type { Json } from "../../../sandbox/objects/json.ts";
import type { ApiObject } from "../../../sandbox/objects/object.ts";
import { resources } from "../../../sandbox/objects/resources.ts";
import type { WebhookCaller } from "../../../sandbox/registry/webhooks.ts";
import { type ApiCall, type ApiReply, answerCall } from "../../../sandbox/requests/api-call.ts";
import { type ApiServer, startApiServer } from "../../../sandbox/requests/api-server.ts";
import type { Api, HistoryEntry, SentWrite, StoredObject, Writer } from "../record.ts";
import { crashesWith } from "./crashing-pods.ts";
import { type Obstacle, obstructed } from "./obstacles.ts";
import { pointed } from "./pinning.ts";
import type { Random } from "./random.ts";
import type { Unlisted } from "./refusals.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";

/** A request as it arrives at the API server. */
export interface ArrivingRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Json | undefined;
}

/** The API server in virtual time, with everything that was ever stored. */
export interface Cluster {
  readonly server: ApiServer;
  /** The true wall-clock time at the start, milliseconds since the epoch. */
  readonly epoch: number;
  readonly history: readonly HistoryEntry[];
  /** By replica, the `leaseTransitions` of its last stored write of the Lease. */
  readonly terms: ReadonlyMap<string, number | undefined>;
  /** Answers one request; its writes are recorded for `writer`. */
  readonly answer: (request: ArrivingRequest, writer: Writer) => Promise<ApiReply>;
  readonly api: Api;
  /** Reports whether the containers of a Pod would crash if they started now. */
  readonly crashes: (pod: ApiObject) => boolean;
  /** Every write of a workload or Pod that a process of Wave sent, with any result. */
  readonly sent: SentWrite[];
  /** Whether no Pod finds a node. */
  isFull: boolean;
  /** What keeps new Pods of one workload from their start, by namespace. */
  readonly obstacles: Map<string, Obstacle>;
  /** Whether only the world gets answers. */
  down: boolean;
  /** When calm gaps began: the API server is down for a moment and forgets the history of its watches. */
  readonly gapsAt: number[];
  /** The namespace that no process of Wave can list. */
  unlisted: Unlisted | undefined;
}

/** Starts the server with the standard namespaces of a cluster. */
export function startCluster(options: {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly webhooks: WebhookCaller;
  readonly historySize: number;
  readonly epoch: number;
  /** When Widgets become available; undefined: never. */
  readonly widgetsFrom: number | undefined;
  /** How late the built-in controllers see a write. */
  readonly controllerDelayMs: () => number;
  readonly trace: Trace;
}): Cluster {
  const { scheduler, webhooks, historySize, epoch, widgetsFrom = Number.POSITIVE_INFINITY, trace } = options;
  const random = options.random.stream("cluster");
  const writers = new AsyncLocalStorage<Writer>();
  const history: HistoryEntry[] = [];
  const terms = new Map<string, number | undefined>();
  let ids = 0;
  const server = startApiServer({
    clock: {
      wall: () => epoch + scheduler.now,
      monotonic: () => scheduler.now,
      // The built-in controllers resolve no promise.
      timer: (ms, callback) => scheduler.after(ms, callback, true),
    },
    random: random.next,
    uuid: () => `00000000-0000-4000-8000-${(++ids).toString(16).padStart(12, "0")}`,
    webhooks,
    historySize,
    bookmarkMs: 10_000,
    podDelayMs: 50,
    controllerDelayMs: options.controllerDelayMs,
    admitPod: (pod) => {
      obstructed.creation(pod, cluster);
      return pointed(pod as unknown as StoredObject) as unknown as typeof pod;
    },
    servesWidgets: () => scheduler.now >= widgetsFrom,
    crashes: (pod) => crashes(pod),
    hasRoom: (pod) => !cluster.isFull && obstructed.fate(pod, cluster) !== "Unschedulable",
    waits: (pod) => obstructed.wait(pod, cluster),
  });
  const { storage } = server.registry;
  const crashes = (pod: ApiObject) =>
    crashesWith(pod as unknown as StoredObject, (kind, namespace, name) => {
      const resource = kind === "Secret" ? resources.secrets : resources.configMaps;
      return storage.get(resource, namespace, name) as unknown as StoredObject | undefined;
    });
  storage.subscribe(({ revision, resource, before, after }) => {
    const by = writers.getStore() ?? { actor: "kube-controller-manager" };
    const type = before === undefined ? "ADDED" : after === undefined ? "DELETED" : "MODIFIED";
    const objects = {
      ...(before && { before: before as StoredObject }),
      ...(after && { after: after as StoredObject }),
    };
    if (resource === resources.leases && by.replica !== undefined) {
      const { leaseTransitions } = (after?.spec ?? {}) as { readonly leaseTransitions?: number };
      terms.set(by.replica, leaseTransitions);
    }
    history.push({ at: scheduler.now, rv: revision, type, resource: resource.plural, ...objects, by });
    trace.line(by.replica ?? by.actor, () => {
      const { namespace = "", name } = (after ?? before)?.metadata ?? {};
      return `stored ${revision} ${type} ${resource.plural} ${namespace}/${name}`;
    });
  });

  const answer = (request: ArrivingRequest, writer: Writer) =>
    writers.run(writer, () => answerCall(server, callOf(request)));
  const api: Api = {
    async request(method, path, { query = {}, body, contentType, manager = "kubectl" } = {}) {
      await scheduler.sleep(random.between(0.5, 4));
      const parameters = new URLSearchParams({ fieldManager: manager, ...query });
      const type = contentType ?? (method === "PATCH" ? "application/merge-patch+json" : "application/json");
      const headers = { "content-type": type, accept: "application/json", "user-agent": `${manager}/1` };
      const arriving = { method, path: `${path}?${parameters}`, headers, body: body as Json | undefined };
      const reply = await answer(arriving, { actor: "world", fieldManager: manager });
      await scheduler.sleep(random.between(0.5, 4));
      if (reply.type === "watch") throw new Error("the world watches nothing");
      return { status: reply.status, body: reply.body };
    },
  };
  const cluster: Cluster = {
    ...{
      server,
      epoch,
      history,
      terms,
      answer,
      api,
      crashes,
      sent: [],
      isFull: false,
      obstacles: new Map(),
      down: false,
      gapsAt: [],
      unlisted: undefined,
    },
  };
  return cluster;
}

function callOf({ method, path, headers, body }: ArrivingRequest): ApiCall {
  const [name = "", query] = path.split("?", 2);
  const header = (field: string) => {
    const value = headers[field];
    return Array.isArray(value) ? value.join(",") : (value ?? "");
  };
  return { method, path: name, query: new URLSearchParams(query), header, body: async () => body };
}
