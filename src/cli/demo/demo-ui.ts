import type { ConfigMap, Deployment, Pod } from "#kubernetes";
import {
  annotationPrefix,
  configHash,
  recordedConfigAnnotation,
  updateOnConfigChange,
} from "../../domain/references/annotations.ts";
import { type KubeObject, type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { sleep, systemClock } from "../../lib/clock.ts";
import { createLogger } from "../../telemetry/logging/log.ts";
import { listAll } from "../cluster/requests.ts";
import { openCluster } from "../command/cluster-command.ts";
import { exitCodes, type Terminal } from "../command/command.ts";
import { parseArguments } from "../flags/parse-flags.ts";
import { hasColors } from "../output/table.ts";
import { openBrowser, readPageFiles, startUi } from "../ui/start-ui.ts";
import { uiFlags } from "../ui/ui-flags.ts";
import { type DemoClusterOptions, openSandbox, startWave } from "./demo-cluster.ts";
import { createNarrator, Interrupted } from "./narrator.ts";

/** How Wave paces the shop: as by default, but faster, because a person watches. */
const pacing = ["--settle=500ms", "--soak=5s", "--max-concurrent-rollouts=2"];

/** So that the page shows a leader. */
const election = ["--leader-election", "--leader-election-namespace=default", "--leader-election-lease-duration=3s"];

/** How long a Pod of the demo takes to become ready and to stop, in milliseconds. */
const podDelayMs = 1_500;

/** Serves the page of `wave ui` for a shop in this process that is edited again and again, until a signal. Resolves with the exit code. */
export async function runUiDemo(options: DemoClusterOptions, terminal: Terminal): Promise<number> {
  const files = await readPageFiles();
  const shop = new DemoShop();
  const stage = await openSandbox(options, { podDelayMs, crashes: shop.crashes });
  const failed = new AbortController();
  const over = AbortSignal.any([options.signal, failed.signal]);
  const fail = (error: unknown) => failed.abort(error);
  const color = hasColors(terminal.env, terminal.outputToTerminal);
  const log = createLogger({ format: "text", clock: systemClock, write: terminal.writeError, color, level: "error" });
  const wave = startWave([...stage.waveFlags, ...election, ...pacing], terminal, log, fail);
  try {
    const call = { ...parseArguments(uiFlags, [...stage.kubectlFlags, ...pacing], {}), terminal };
    const cluster = await openCluster("ui", stage.config, {});
    const members = [{ cluster, context: "demo" }];
    const ui = await startUi({ call, members, files, diagnoses: false, clock: systemClock, signal: over });
    ui.ended.catch(fail);
    const { paragraph } = createNarrator(terminal.write, color);
    paragraph(
      "A small shop runs on a Kubernetes API server inside this process. No real cluster is used. Its configuration changes every few seconds, and one change is bad.",
      "Open this page:",
      `  ${ui.url}`,
      "Press Ctrl-C to stop and to remove everything.",
    );
    if (terminal.outputToTerminal) await openBrowser(ui.url);
    const context = { client: stage.client, signal: over };
    try {
      await shop.build(context);
      await shop.edit(context);
    } catch (error) {
      if (!over.aborted) throw error;
    }
    await ui.ended.catch(() => {});
    await cluster.client.close();
    if (over.reason instanceof Interrupted) return exitCodes.done;
    throw over.reason;
  } finally {
    fail(new Error("the demo ended"));
    await wave.stop();
    await stage.close();
  }
}

interface ShopContext {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
}

/** Workloads of the shop: what each reads, and the annotations that decide when it rolls. */
const workloads = [
  { namespace: "shop", name: "cart", reads: "common", replicas: 3 },
  { namespace: "shop", name: "catalog", reads: "common", replicas: 4 },
  { namespace: "shop", name: "checkout", reads: "common", replicas: 2 },
  { namespace: "shop", name: "search", reads: "common", replicas: 6 },
  { namespace: "shop", name: "web", reads: "common", replicas: 8 },
  { namespace: "pay", name: "ledger", reads: "rates", replicas: 2, policy: { mode: "approve" } },
  {
    namespace: "pay",
    name: "invoices",
    reads: "rates",
    replicas: 2,
    policy: { hold: "true", "hold-reason": "INC-12: end of the month (kim)" },
  },
  { namespace: "mail", name: "newsletter", reads: "template", replicas: 2, policy: { window: "Sun 02:00-04:00 UTC" } },
  { namespace: "mail", name: "sender", reads: "smtp", replicas: 2 },
] as const;

const configMaps = [
  { namespace: "shop", name: "common", data: { FEATURE_X: "off", LOG_LEVEL: "info" } },
  { namespace: "pay", name: "rates", data: { EUR: "1", USD: "1.1" } },
  { namespace: "mail", name: "template", data: { subject: "News" } },
] as const;

/** One edit of the shop. `pauseMs` is the time to the next one. */
interface Edit {
  readonly namespace: string;
  readonly name: string;
  readonly by: string;
  /** Returns the new values in one turn, which differ from those of the turn before. */
  readonly data: (turn: number) => Readonly<Record<string, string>>;
  readonly pauseMs: number;
  /** Whether the Pods that read the edit crash. */
  readonly breaks?: true;
}

/** The time between the start of Wave and the first edit, in milliseconds: a person opens the page. */
const firstPauseMs = 3_000;

/** The edits that are played again and again. */
const edits: readonly Edit[] = [
  { namespace: "shop", name: "common", by: "argocd-controller", data: () => ({ FEATURE_X: "on" }), pauseMs: 12_000 },
  {
    namespace: "pay",
    name: "rates",
    by: "kubectl-edit",
    data: (turn) => ({ USD: `1.${2 + (turn % 2)}` }),
    pauseMs: 4_000,
  },
  {
    namespace: "mail",
    name: "template",
    by: "kubectl-edit",
    data: (turn) => ({ subject: `News ${turn}` }),
    pauseMs: 24_000,
  },
  {
    namespace: "shop",
    name: "common",
    by: "helm",
    data: () => ({ LOG_LEVEL: "verbose" }),
    pauseMs: 30_000,
    breaks: true,
  },
  {
    namespace: "shop",
    name: "common",
    by: "kubectl-edit",
    data: () => ({ LOG_LEVEL: "info", FEATURE_X: "off" }),
    pauseMs: 40_000,
  },
];

/** Returns whether the containers of a Pod would end as soon as they start, with what is stored now. */
type Crashes = (pod: { readonly metadata: { readonly namespace?: string | undefined } }) => boolean;

/** A shop whose configuration is edited again and again, for people who look at the page. */
class DemoShop {
  #isBroken = false;

  readonly crashes: Crashes = ({ metadata }) => this.#isBroken && metadata.namespace === "shop";

  async build(context: ShopContext): Promise<void> {
    for (const name of new Set(workloads.map(({ namespace }) => namespace)))
      await create(context, resources.namespaces, undefined, { metadata: { name } });
    for (const { namespace, name, data } of configMaps)
      await create(context, resources.configMaps, namespace, { metadata: { name }, data } satisfies ConfigMap);
    // The API has whole seconds: Pods of the second of an edit might have read what was before.
    await sleep(systemClock, 1_100, context.signal);
    for (const each of workloads) await create(context, resources.deployments, each.namespace, deployment(each));
  }

  /** Edits the configuration until the signal is aborted, and then rejects with its reason. */
  async edit(context: ShopContext): Promise<never> {
    while (!(await isRecorded(context))) await sleep(systemClock, 500, context.signal);
    await sleep(systemClock, firstPauseMs, context.signal);
    for (let turn = 1; ; turn++) for (const each of edits) await this.#editOnce(each, turn, context);
  }

  async #editOnce(
    { namespace, name, by, data, pauseMs, breaks }: Edit,
    turn: number,
    context: ShopContext,
  ): Promise<void> {
    const { client, signal } = context;
    if (namespace === "shop") this.#isBroken = breaks === true;
    const path = resourcePath(resources.configMaps, { namespace, name });
    await client.request({ method: "PATCH", path, body: { data: data(turn) }, query: { fieldManager: by }, signal });
    const until = systemClock.monotonic() + pauseMs;
    while (systemClock.monotonic() < until) {
      await sleep(systemClock, 1_000, signal);
      if (this.#isBroken) await this.#restart(context);
    }
  }

  /** Restarts the containers that crash, as a kubelet does: the API server of the demo only reports that they crash. */
  async #restart({ client, signal }: ShopContext): Promise<void> {
    const pods = await listAll<KubeObject & Pod, KubeObject & Pod>(
      client,
      resources.pods,
      { namespace: "shop" },
      (pod) =>
        pod.status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === "CrashLoopBackOff")
          ? pod
          : undefined,
    );
    for (const { metadata, status } of pods) {
      const path = `${resourcePath(resources.pods, { namespace: "shop", name: metadata.name })}/status`;
      const containerStatuses = status?.containerStatuses?.map((each) => ({
        ...each,
        restartCount: each.restartCount + 1,
        lastState: { terminated: { exitCode: 1 } },
      }));
      await client.request({ method: "PATCH", path, body: { status: { containerStatuses } }, signal });
    }
  }
}

function deployment({ namespace, name, reads, replicas, ...rest }: (typeof workloads)[number]): Deployment {
  const policy: Readonly<Record<string, string>> = "policy" in rest ? rest.policy : {};
  // Without it, the first hash of each workload would delay its next rollout.
  const all = { "first-sight": "record", ...policy };
  const annotations = Object.fromEntries(Object.entries(all).map(([key, value]) => [annotationPrefix + key, value]));
  return {
    metadata: { namespace, name, annotations: { [updateOnConfigChange]: "true", ...annotations } },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "app", image: `${name}:1`, envFrom: [{ configMapRef: { name: reads } }] }] },
      },
    },
  };
}

/** Reports whether Wave knows the configuration of all workloads that lack nothing. */
async function isRecorded({ client, signal }: ShopContext): Promise<boolean> {
  for (const { namespace, name, reads } of workloads) {
    if (!configMaps.some((each) => each.namespace === namespace && each.name === reads)) continue;
    const path = resourcePath(resources.deployments, { namespace, name });
    const { metadata, spec } = await client.request<KubeObject & Deployment>({ method: "GET", path, signal });
    const written = { ...metadata.annotations, ...spec?.template.metadata?.annotations };
    if (!(recordedConfigAnnotation in written || configHash in written)) return false;
  }
  return true;
}

async function create(
  { client, signal }: ShopContext,
  resource: Resource,
  namespace: string | undefined,
  body: object,
): Promise<void> {
  const path = resourcePath(resource, { namespace });
  await client.request({ method: "POST", path, body, query: { fieldManager: "wave-demo" }, signal });
}
