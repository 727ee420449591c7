import { hostname } from "node:os";
import { type Caches, createCaches } from "../cache/caches.ts";
import { type Controller, createController } from "../controller/controller.ts";
import { type ApiClient, createApiClient } from "../kube/client.ts";
import type { ClusterConfig } from "../kube/cluster-access.ts";
import { createEventRecorder, type EventRecorder } from "../kube/event-recorder.ts";
import type { Clock } from "../lib/clock.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Logger } from "../telemetry/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics.ts";
import type { Webhook } from "../webhook/webhook.ts";
import { type Connection, createConnection } from "./connect.ts";
import { createElector, type Elector, electionIdentity } from "./leader-election.ts";
import type { Settings } from "./settings.ts";

/** The parts of Wave, put together; none of them does anything yet. */
export interface Assembly {
  readonly client: ApiClient;
  readonly connection: Connection;
  readonly caches: Caches;
  readonly controller: Controller;
  /** Undefined where it is off. */
  readonly webhook: Webhook | undefined;
  /** Undefined where this process leads alone. */
  readonly elector: Elector | undefined;
}

/** What every part gets. */
export interface Surroundings {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly version: string;
}

/** Puts the parts together as the settings say. Throws where the settings contradict each other. */
export async function assemble(
  settings: Settings,
  config: ClusterConfig,
  surroundings: Surroundings,
): Promise<Assembly> {
  const { clock, log, metrics, version } = surroundings;
  const identity = electionIdentity(hostname());
  // The identity tells replicas apart in the API server's audit log.
  const userAgent = `wave/${version} (${process.platform}/${process.arch}; ${identity})`;
  const client = createApiClient({ config, clock, metrics, userAgent });
  const connected = { client, clock, log, metrics };
  const recorder = createEventRecorder({ client, clock, log, component: "wave", instance: identity });
  const { crossNamespace, namespaces, schedulingGate } = settings;
  const policy: Policy = { crossNamespace, namespaces, schedulingGate };
  return {
    client,
    connection: createConnection({ client, server: config.server.origin, clock, log }),
    ...assembleController(settings, policy, recorder, connected),
    webhook: await assembleWebhook(settings, config, policy, connected),
    elector: assembleElector(settings, identity, recorder, connected),
  };
}

interface Connected {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** The caches tell the controller of each change; the controller reads the caches. */
function assembleController(
  { namespaces, updateRate, updateBurst, syncPeriodMs, webhooks }: Settings,
  policy: Policy,
  recorder: EventRecorder,
  connected: Connected,
): { readonly caches: Caches; readonly controller: Controller } {
  const caches: Caches = createCaches({
    ...connected,
    namespaces,
    onWorkloadChange: (change) => controller.onWorkloadChange(change),
    onConfigChange: (change) => controller.onConfigChange(change),
  });
  const pace = { updateRate, updateBurst, syncPeriodMs };
  const options = { ...connected, ...pace, caches, policy, recorder, webhooks: webhooks !== undefined };
  const controller: Controller = createController(options);
  return { caches, controller };
}

/** Imported only where it is on: certificates and TLS cost memory. */
async function assembleWebhook(
  { webhooks, podNamespace }: Settings,
  config: ClusterConfig,
  policy: Policy,
  connected: Connected,
): Promise<Webhook | undefined> {
  if (webhooks === undefined) return undefined;
  const { createWebhook } = await import("../webhook/webhook.ts");
  return createWebhook({
    ...connected,
    ...webhooks,
    policy,
    namespace: podNamespace ?? config.namespace ?? "default",
  });
}

function assembleElector(
  { leaderElection }: Settings,
  identity: string,
  recorder: EventRecorder,
  connected: Connected,
): Elector | undefined {
  if (leaderElection === undefined) return undefined;
  const { id, ...rest } = leaderElection;
  return createElector({ ...connected, ...rest, name: id, identity, recorder });
}
