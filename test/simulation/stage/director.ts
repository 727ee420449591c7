import { holdingsOf } from "../judge-leadership.ts";
import type { Life, World } from "../record.ts";
import { hideNamespace } from "./hidden-namespace.ts";
import type { Random } from "./random.ts";
import { Replica, type ReplicaOptions } from "./replica.ts";
import type { ProcessFault, ServerFault } from "./weather.ts";

/** Runs actions of the world, and faults of processes and the server, at moments that the seed chooses. */
export class Director {
  readonly #options: ReplicaOptions;
  readonly #random: Random;
  readonly #machines: readonly string[];
  readonly #running = new Map<string, Replica>();
  readonly #all: Replica[] = [];
  readonly #births = new Map<string, number>();
  /** The maximum offset of a wall clock after one step, in milliseconds. */
  readonly #jumps: readonly number[];

  constructor(options: ReplicaOptions, machines: readonly string[]) {
    this.#options = options;
    this.#random = options.random.stream("director");
    this.#machines = machines;
    // Only the wall clock shows that a machine was suspended: ADR 6 requires that one of both clocks is correct.
    const back = options.weather.processes.includes("suspended") ? [] : [-3_600_000, -20_000, -1_000];
    this.#jumps = [...back, 1_000, 12_000, 20_000, 3_600_000];
  }

  /** The results of all processes. */
  get lives(): readonly Life[] {
    return this.#all.map(({ life }) => life);
  }

  /** The processes that run now. */
  get replicas(): readonly Replica[] {
    return [...this.#running.values()];
  }

  /** Installs Wave, starts everything, and runs until no faults are left. Wave may start before the objects exist. */
  async play(world: World, install: () => Promise<void>): Promise<void> {
    const { scheduler } = this.#options;
    await install();
    hideNamespace(this.#options, this.#random);
    const batchFirst = this.#random.chance(0.5);
    if (batchFirst) this.#startAll();
    await world.start();
    if (!batchFirst) this.#startAll();
    void this.#live(world);
    void this.#suffer();
    this.#brew();
    await scheduler.sleep(0);
  }

  /** Ends every fault: stopped processes continue, dead processes start again, and no more actions happen. */
  calm(): void {
    const { weather, cluster } = this.#options;
    weather.clear();
    cluster.down = false;
    for (const machine of this.#machines) {
      const replica = this.#running.get(machine);
      if (replica === undefined || replica.isOver) this.#start(machine);
      else {
        replica.resume(true);
        replica.network.calm();
      }
    }
  }

  /** Sends every process the signal to stop; each must end within the grace period of Kubernetes. */
  stop(): void {
    for (const replica of this.replicas) void replica.stop();
  }

  /** Ends the leader, and starts another process on its machine later. Resolves when it has ended. */
  async changeLeader(how: "crash" | "stop"): Promise<void> {
    const { scheduler, webhooks, cluster } = this.#options;
    const leader = holdingsOf(cluster.history).at(-1)?.replica;
    const replica = this.replicas.find(({ process }) => process.name === leader);
    if (replica === undefined) return;
    if (how === "crash") {
      replica.crash();
      webhooks.forget(replica.process);
    } else await replica.stop();
    scheduler.after(5_000, () => this.#start(replica.machine));
  }

  #startAll(): void {
    const { scheduler } = this.#options;
    for (const machine of this.#machines) {
      scheduler.after(this.#random.exponential(1_000), () => this.#start(machine));
    }
  }

  #start(machine: string): void {
    const running = this.#running.get(machine);
    if (running !== undefined && !running.isOver) return;
    const life = (this.#births.get(machine) ?? 0) + 1;
    this.#births.set(machine, life);
    const replica = new Replica(this.#options, machine, life);
    this.#running.set(machine, replica);
    this.#all.push(replica);
  }

  /** Runs actions of the world: some one by one, some in bursts. */
  async #live(world: World): Promise<void> {
    const { scheduler, weather, trace, violated } = this.#options;
    // With pacing, rollouts need time between two edits.
    const paces = this.#options.settings.pacing === undefined ? [300, 1_000, 3_000] : [1_000, 5_000, 15_000];
    const pace = this.#random.pick(paces);
    while (!weather.isCalm && scheduler.now < weather.calmAt) {
      await scheduler.sleep(this.#random.exponential(this.#random.chance(0.3) ? 20 : pace));
      if (weather.isCalm) return;
      world.step().then(
        (what) => trace.line("world", () => what),
        (error: unknown) => violated(`the world broke: ${error instanceof Error ? error.stack : String(error)}`),
      );
    }
  }

  #brew(): void {
    const { scheduler, weather } = this.#options;
    for (const { from, replica } of weather.storms) {
      scheduler.after(from - scheduler.now, () => {
        const hit = this.replicas.filter(({ machine }) => replica === undefined || replica === machine);
        for (const { network } of hit) network.storm();
      });
    }
  }

  async #suffer(): Promise<void> {
    const { scheduler, weather } = this.#options;
    const faults = [...weather.processes, ...weather.servers];
    if (faults.length === 0) return;
    const pace = this.#random.pick([3_000, 8_000, 20_000]);
    while (!weather.isCalm) {
      await scheduler.sleep(this.#random.exponential(pace));
      if (weather.isCalm) return;
      const fault = this.#random.pick(faults);
      if (isServerFault(fault)) this.#hitServer(fault);
      else this.#hitProcess(fault, this.#random.pick(this.#machines));
    }
  }

  #hitServer(fault: ServerFault): void {
    const { cluster, scheduler, trace, weather } = this.#options;
    const { storage } = cluster.server.registry;
    trace.line("server", () => fault);
    switch (fault) {
      case "compaction":
        storage.expireHistory();
        return;
      case "breakAll":
        for (const replica of this.replicas) replica.network.break("the API server closed the connection");
        return;
      case "outage": {
        cluster.down = true;
        for (const replica of this.replicas) replica.network.break("the API server is gone");
        const compacts = this.#random.chance(0.5);
        scheduler.after(this.#random.pick([500, 5_000, 20_000, 60_000]), () => {
          if (!weather.isCalm) cluster.down = false;
          if (compacts) storage.expireHistory();
        });
      }
    }
  }

  /** Sets a wall clock wrong, and usually corrects it soon. */
  #jumpWall(replica: Replica): void {
    const { scheduler } = this.#options;
    const jump = (ms: number) => {
      replica.process.jumpWall(ms);
      scheduler.after(20, () => replica.scrape());
    };
    const ms = this.#random.pick(this.#jumps);
    jump(ms);
    const mayComeBack = ms < 0 || this.#jumps.some((each) => each < 0);
    if (mayComeBack && this.#random.chance(0.7)) scheduler.after(this.#random.between(100, 5_000), () => jump(-ms));
  }

  #hitProcess(fault: ProcessFault, machine: string): void {
    const { scheduler, weather, trace } = this.#options;
    const replica = this.#running.get(machine);
    if (replica === undefined || replica.isOver) return;
    const random = this.#random;
    const later = (ms: number, run: () => void) => scheduler.after(ms, () => weather.isCalm || run());
    const whileMs = random.pick([100, 2_000, 9_000, 12_000, 16_000, 40_000]);
    trace.line(replica.process.name, () => `${fault} for ${whileMs} ms`);
    switch (fault) {
      case "stopped":
      case "suspended": {
        const timersFirst = random.chance(0.5);
        replica.pause(fault);
        later(whileMs, () => replica.resume(timersFirst));
        return;
      }
      case "crash":
        replica.crash();
        later(random.exponential(3_000), () => this.#start(machine));
        later(random.exponential(2_000), () => this.#options.webhooks.forget(replica.process));
        return;
      case "restart":
        void replica.stop().then(() => scheduler.after(random.exponential(1_000), () => this.#start(machine)));
        return;
      case "wallJump":
        this.#jumpWall(replica);
        return;
      case "forbidden": {
        const kinds = this.#options.settings.workloadKinds?.map(({ plural }) => plural) ?? [];
        const resource = random.pick([...bannable, ...kinds]);
        replica.network.ban = { resource, writes: random.chance(0.5) };
        later(whileMs, () => {
          replica.network.ban = undefined;
        });
        return;
      }
      case "partition":
        replica.network.partition();
        later(whileMs, () => replica.network.heal());
    }
  }
}

/** The resources whose permission may be missing for a while. */
const bannable = ["configmaps", "secrets", "deployments", "statefulsets", "leases", "events"];

const serverFaultNames: ReadonlySet<string> = new Set<ServerFault>(["compaction", "outage", "breakAll"]);

function isServerFault(fault: ProcessFault | ServerFault): fault is ServerFault {
  return serverFaultNames.has(fault);
}
