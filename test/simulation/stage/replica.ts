import type { CollectorTimes } from "../../../src/controllers/pinned-copies/controller.ts";
import type { ClusterConfig } from "../../../src/kube/config/cluster-access.ts";
import { fixedCredentials, unchanging } from "../../../src/kube/config/credentials.ts";
import { assemble } from "../../../src/manager/assemble.ts";
import { electionTimings } from "../../../src/manager/leader-election/lease.ts";
import { runAssembly } from "../../../src/manager/run-assembly.ts";
import type { Settings } from "../../../src/manager/settings.ts";
import type { LogFields, Logger } from "../../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../../src/telemetry/metrics/metrics.ts";
import { unpaced } from "../../support/domain/objects.ts";
import type { BatchSettings, Life } from "../record.ts";
import type { AlertSource } from "./alert-source.ts";
import type { Cluster } from "./cluster.ts";
import { Network } from "./network.ts";
import { type Pause, SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Trace } from "./trace.ts";
import type { Weather } from "./weather.ts";
import type { WebhookService } from "./webhook-service.ts";

/** The namespace in which Wave is installed. */
export const waveNamespace = "wave-system";

/** The environment of a process of Wave. */
export interface ReplicaOptions {
  readonly scheduler: Scheduler;
  readonly cluster: Cluster;
  readonly weather: Weather;
  readonly webhooks: WebhookService;
  readonly random: Random;
  readonly trace: Trace;
  readonly settings: BatchSettings;
  readonly alerts: AlertSource;
  /** Whether the clocks of new processes are right. */
  readonly hasRightClocks: boolean;
  /** Receives the outcomes and holds in the log, such as `outcome roll` and `hold window`. */
  readonly reached: Set<string>;
  /** Receives reports of mistakes. */
  readonly violated: (what: string) => void;
}

/** One process of Wave as released, from its start to its end. */
export class Replica {
  readonly machine: string;
  readonly process: SimulatedProcess;
  readonly network: Network;
  readonly metrics = new MetricsRegistry();
  readonly #options: ReplicaOptions;
  readonly #from: number;
  readonly #stop = new AbortController();
  #to: number | undefined;
  /** The number of times that it became the leader. */
  #terms = 0;
  /** The last of its leaderships that was seen to be over. */
  #endedTerm: number | undefined;
  #end: Life["end"];
  readonly #ended = Promise.withResolvers<void>();

  /** Starts it; `life` is the number of this process on its machine. */
  constructor(options: ReplicaOptions, machine: string, life: number) {
    const { scheduler, random, cluster } = options;
    const name = `${machine}#${life}`;
    this.machine = machine;
    this.#options = options;
    this.#from = scheduler.now;
    const own = random.stream(name);
    const rate = own.chance(0.5) ? 1 : own.between(0.97, 1.03);
    const wallMs = own.chance(0.5) ? 0 : own.between(-600_000, 600_000);
    const clock = options.hasRightClocks ? { rate: 1, wallMs: 0 } : { rate, wallMs };
    this.process = new SimulatedProcess(scheduler, { name, ...clock, epoch: cluster.epoch });
    const term = () => cluster.terms.get(name);
    this.network = new Network({
      ...options,
      process: this.process,
      replica: machine,
      random: own.stream("net"),
      term,
    });
    void this.#run(own.stream("wave"));
  }

  /** Returns the results of the process. */
  get life(): Life {
    const { name: replica, pauses, wallOffMs, deafAt, listedAt } = this.process;
    return { replica, from: this.#from, to: this.#to, end: this.#end, pauses, wallOffMs, deafAt, listedAt };
  }

  get isOver(): boolean {
    return this.#to !== undefined;
  }

  pause(pause: Pause): void {
    this.#options.trace.line(this.process.name, () => `is ${pause}`);
    this.process.pause(pause);
  }

  resume(timersFirst: boolean): void {
    this.#options.trace.line(this.process.name, () => "goes on");
    this.process.resume(timersFirst);
  }

  /** Reads the metrics, as Prometheus does. A leadership that was seen to be over must not return. */
  scrape(): void {
    this.process.enter(() => {
      if (this.isOver) return;
      const leads = /^wave_leader 1$/m.test(this.metrics.render());
      if (leads && this.#endedTerm === this.#terms) this.#options.violated(`${this.process.name}: a term came back`);
      if (!leads) this.#endedTerm = this.#terms;
    });
  }

  /** SIGKILL. What remains of the process receives and sends nothing more; it is stopped so that its memory is freed. */
  crash(): void {
    this.#over("crashed");
    this.process.kill();
    this.network.die();
    this.#stop.abort(new Error("SIGKILL"));
  }

  /** SIGTERM; resolves when the process has ended, in virtual time. */
  stop(): Promise<void> {
    this.#options.trace.line(this.process.name, () => "is told to stop");
    this.process.enter(() => this.#stop.abort(new Error("SIGTERM")));
    return this.#ended.promise;
  }

  #over(end: Life["end"]): void {
    if (this.isOver) return;
    const { trace, scheduler } = this.#options;
    trace.line(this.process.name, () => `has ${end}`);
    this.#to = scheduler.now;
    this.#end = end;
    this.#ended.resolve();
  }

  async #run(random: Random): Promise<void> {
    const { violated, webhooks, alerts } = this.#options;
    const { clock, name } = this.process;
    const failed = new AbortController();
    const over = AbortSignal.any([this.#stop.signal, failed.signal]);
    const log = this.#logger();
    try {
      const assembly = await assemble(settingsOf(this.#options.settings), config, {
        clock,
        log,
        metrics: this.metrics,
        version: "simulation",
        identity: name,
        random: random.next,
        connect: this.network.connect,
        collectorTimes: shortTimes(this.#options.weather),
        queryAlerts: alerts.queryOf(this.process),
        createWebhook: webhooks.createWebhook(this.process),
      });
      await runAssembly(assembly, { log, signal: over, onFailure: (error) => failed.abort(error) });
      failed.signal.throwIfAborted();
      if (!this.isOver && !this.#stop.signal.aborted) violated(`${name} ended although nobody told it to`);
    } catch (error) {
      if (!this.isOver)
        violated(`${name} ended with ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
    this.#over("stopped");
    this.process.kill();
  }

  #logger(): Logger {
    const { trace, violated, reached } = this.#options;
    const { name } = this.process;
    const line = (level: string) => (message: string, fields?: LogFields) => {
      if (this.isOver) return;
      for (const field of ["outcome", "hold"] as const)
        if (fields?.[field] !== undefined) reached.add(`${field} ${String(fields[field])}`);
      trace.line(name, () => `${level} ${message} ${JSON.stringify(fields ?? {})}`);
      if (message === "this replica leads") this.#terms++;
      if (message.startsWith("bug")) violated(`${name} says ${message} ${JSON.stringify(fields ?? {})}`);
    };
    return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  }
}

/** The times of the collector in a run of minutes, in milliseconds. No write is on its way for longer. */
function shortTimes(weather: Weather): CollectorTimes {
  return {
    get sweepMs() {
      return weather.isScripted ? 60_000 : 5_000;
    },
    afterRolloutMs: 2_000,
    waitMs: 60_000,
    seenMs: 20_000,
  };
}

const config: ClusterConfig = {
  server: new URL("https://simulation"),
  namespace: waveNamespace,
  source: "the simulation",
  tls: unchanging({ insecure: false }),
  credentials: fixedCredentials(),
};

function settingsOf({ webhooks, pacing = unpaced, gateRequired: isRequired, ...rest }: BatchSettings): Settings {
  return {
    cluster: {},
    ...rest,
    metricsBindAddress: undefined,
    healthProbeBindAddress: undefined,
    logFormat: undefined,
    logLevel: "debug",
    webhooks: webhooks
      ? { bindAddress: ":9443", tlsDirectory: undefined, clientCaFile: undefined, serviceName: "wave", url: undefined }
      : undefined,
    leaderElection: {
      id: "wave",
      namespace: waveNamespace,
      ...electionTimings(15_000),
    },
    podNamespace: waveNamespace,
    pacing,
    alertGate:
      isRequired === undefined
        ? undefined
        : { url: new URL("https://prometheus"), tokenFile: undefined, caFile: undefined, isRequired },
    changed: [],
  };
}
