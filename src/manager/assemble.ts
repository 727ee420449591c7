import { createCaches } from "../cache/caches.ts";
import type { Caches } from "../cache/cluster-cache.ts";
import { ownerCheck } from "../cache/workloads/workload-reads.ts";
import { type Controller, type ControllerOptions, createController } from "../controllers/rollout/controller.ts";
import { type AlertQuery, createAlertQuery } from "../controllers/rollout/gate/query-alerts.ts";
import { loadNamePatterns } from "../domain/compatibility/stakater-directives.ts";
import { judgedAnnotation, writeJudged } from "../domain/plan/verdict.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { ClusterConfig } from "../kube/config/cluster-access.ts";
import { createEventRecorder, type EventRecorder, type EventRecorderOptions } from "../kube/events/event-recorder.ts";
import { type ApiClient, type ApiClientOptions, createApiClient } from "../kube/http/client.ts";
import { createReachability, type Reachability } from "../kube/http/reachability.ts";
import { clusterMetrics } from "../telemetry/catalogue/cluster.ts";
import type { ProcessContext } from "../telemetry/process-context.ts";
import type { Webhook, WebhookOptions } from "../webhook/webhook.ts";
import { type Connection, createConnection } from "./connect.ts";
import { HashKeyStore } from "./hash-key/hash-key-store.ts";
import { createLeaderElector, type LeaderElector } from "./leader-election/leader-election.ts";
import type { Settings } from "./settings.ts";

/** The assembled parts of Wave. None of them has started. */
export interface Assembly {
  readonly client: ApiClient;
  readonly connection: Connection;
  readonly reachability: Reachability;
  readonly caches: Caches;
  readonly controller: Controller;
  /** Undefined if hashes have no key. */
  readonly hashKeys: HashKeyStore | undefined;
  /** Undefined if webhooks are off. */
  readonly webhook: Webhook | undefined;
  /** Undefined without leader election. */
  readonly elector: LeaderElector | undefined;
}

/** Dependencies that all parts share. The simulation replaces all of them. */
interface AssemblyDependencies extends Pick<ProcessContext, "clock" | "log" | "metrics"> {
  readonly version: string;
  /** Identity of this process among its replicas and in the API server's audit log. */
  readonly identity: string;
  /** The memory limit of the process, in bytes. Default: none. */
  readonly memoryLimit?: number | undefined;
  /** Returns numbers in [0, 1). Default: Math.random. */
  readonly random?: () => number;
  /** Opens connections; see {@link createApiClient}. */
  readonly connect?: ApiClientOptions["connect"];
  /** Sends notifications of Events. */
  readonly notifier?: { readonly recorded: EventRecorderOptions["onRecorded"] } | undefined;
  /** The times of the collector of pinned copies. Default: those of production. */
  readonly collectorTimes?: ControllerOptions["collectorTimes"];
  /** Returns the alerts that fire, if the settings have an alert gate. Default: a query to Prometheus. */
  readonly queryAlerts?: AlertQuery;
  /** Creates the webhook. Default: HTTPS with certificates. */
  readonly createWebhook?: (options: WebhookOptions) => Webhook;
}

/** Creates all parts for these settings. Throws an Error if the settings contradict each other. */
export async function assemble(
  settings: Settings,
  config: ClusterConfig,
  surroundings: AssemblyDependencies,
): Promise<Assembly> {
  const { clock, log, metrics, version, identity, memoryLimit, random = Math.random, connect } = surroundings;
  const userAgent = `wave/${version} (${process.platform}/${process.arch}; ${identity})`;
  const reachability = createReachability(config.server.origin, surroundings);
  const client = createApiClient({ config, clock, metrics, userAgent, reachability, ...(connect && { connect }) });
  const connected = { client, clock, log, metrics, random, memoryLimit };
  const onRecorded = surroundings.notifier?.recorded;
  const recorder = createEventRecorder({ client, clock, log, metrics, instance: identity, onRecorded });
  const {
    crossNamespace,
    firstSight,
    namespaces,
    schedulingHold,
    pacing,
    compatibility,
    providerClasses,
    pinConfig,
    ownership,
  } = settings;
  await loadNamePatterns(compatibility);
  const { hashKeySecret: secret } = settings;
  const onChange = () => controlled.controller.onPolicyChange();
  const hashKeys = secret && new HashKeyStore({ ...connected, secret, onChange });
  // Every plan uses the current keys. No plan may run before they are known: see runAssembly.
  const policy: Policy = {
    crossNamespace,
    firstSight,
    namespaces,
    schedulingHold,
    pacing,
    compatibility,
    providerClasses,
    pinConfig,
    ownership,
    namespacePolicyOf: (namespace) => controlled.caches.namespace(namespace),
    namesMatching: (namespace, patterns) => controlled.caches.namesMatching(namespace, patterns),
    get clusterHold() {
      return controlled.caches.clusterHold;
    },
    get hashKeys() {
      return hashKeys?.known();
    },
  };
  const readHashKeys = hashKeys && ((signal: AbortSignal) => hashKeys.reread(signal));
  const { collectorTimes } = surroundings;
  const queryAlerts =
    surroundings.queryAlerts ?? (settings.alertGate && createAlertQuery(settings.alertGate, { clock, userAgent }));
  const alertGate = assembleGate(settings, queryAlerts, connected, (event) => elector?.record(event));
  const decision = { policy, readHashKeys, alertGate, ...(collectorTimes && { collectorTimes }) };
  const controlled = assembleController(settings, decision, recorder, connected);
  const elector = assembleElector(settings, identity, recorder, connected, controlled.controller);
  return {
    client,
    reachability,
    hashKeys,
    connection: createConnection(config.server.origin, client, connected),
    ...controlled,
    webhook: await assembleWebhook(settings, config, policy, controlled.caches, connected, surroundings.createWebhook),
    elector,
  };
}

interface ClusterDependencies extends ProcessContext {
  readonly client: ApiClient;
  readonly memoryLimit: number | undefined;
}

/** Creates caches and controller: the caches report each change to the controller, which reads the caches. */
function assembleController(
  { namespaces, podNamespace, workloadKinds, updateRate, updateBurst, syncPeriodMs, webhooks }: Settings,
  decision: Pick<ControllerOptions, "policy" | "readHashKeys" | "collectorTimes" | "alertGate">,
  recorder: EventRecorder,
  connected: ClusterDependencies,
): { readonly caches: Caches; readonly controller: Controller } {
  const caches: Caches = createCaches({
    ...connected,
    namespaces,
    ownNamespace: podNamespace,
    crossNamespace: decision.policy.crossNamespace,
    compatibility: decision.policy.compatibility,
    workloadKinds,
    providerClasses: decision.policy.providerClasses,
    onWorkloadChange: (change) => controller.onWorkloadChange(change),
    onConfigChange: (change) => controller.onConfigChange(change),
    onNamespaceChange: (namespace) => {
      controller.onNamespaceChange(namespace);
      // It may hold or release every rollout.
      if (namespace === podNamespace) controller.onPolicyChange();
    },
    onListed: (kind, namespace) => controller.onListed(kind, namespace),
    onOwnersChange: decision.policy.ownership && ((key) => controller.onOwnersChange(key)),
  });
  const pace = { updateRate, updateBurst, syncPeriodMs };
  const options = { ...connected, ...pace, ...decision, caches, recorder, webhooks: webhooks !== undefined };
  const controller: Controller = createController(options);
  return { caches, controller };
}

/** Returns what the alert gate of the leader needs. `record` writes an Event on the Lease. */
function assembleGate(
  { alertGate }: Settings,
  query: AlertQuery | undefined,
  { metrics }: ClusterDependencies,
  record: LeaderElector["record"],
): ControllerOptions["alertGate"] {
  if (alertGate === undefined || query === undefined) return undefined;
  const [answers, queries] = [metrics.gauge(clusterMetrics.gateAnswers), metrics.counter(clusterMetrics.gateQueries)];
  return {
    query,
    isRequired: alertGate.isRequired,
    onResult: (result) => {
      answers.set(result === "answered" ? 1 : 0);
      queries.inc({ result });
    },
    onAway: (message) => record({ type: "Warning", reason: "AlertsUnknown", message }),
  };
}

/** Creates the webhook. Imports its code only if webhooks are on, because certificates and TLS take memory. */
async function assembleWebhook(
  { webhooks, workloadKinds, podNamespace }: Settings,
  config: ClusterConfig,
  policy: Policy,
  { lookup: cached, kinds, workload, workloadsReading, copiesIn }: Caches,
  connected: ClusterDependencies,
  create: AssemblyDependencies["createWebhook"],
): Promise<Webhook | undefined> {
  if (webhooks === undefined) return undefined;
  const createWebhook = create ?? (await import("../webhook/webhook.ts")).createWebhook;
  return createWebhook({
    ...connected,
    ...webhooks,
    policy,
    cached,
    kinds,
    newOwnerCheck: () => ownerCheck({ ...connected, workload, kinds: kinds() }),
    copiesIn,
    workloadsReading: (key) => [...workloadsReading(key)].flatMap((each) => workload(each) ?? []),
    workloadKinds,
    namespace: podNamespace ?? config.namespace ?? "default",
  });
}

function assembleElector(
  { leaderElection }: Settings,
  identity: string,
  recorder: EventRecorder,
  connected: ClusterDependencies,
  controller: Pick<Controller, "judged">,
): LeaderElector | undefined {
  if (leaderElection === undefined) {
    connected.metrics.gauge(clusterMetrics.leader).set(1);
    return undefined;
  }
  const { id, ...rest } = leaderElection;
  const annotations = () => {
    const judged = controller.judged();
    return { [judgedAnnotation]: judged && writeJudged(judged) };
  };
  return createLeaderElector({ ...connected, ...rest, name: id, identity, recorder, annotations });
}
