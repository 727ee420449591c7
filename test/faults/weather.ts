import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { Dice } from "../simulation/dice.ts";
import type { Replica } from "./replicas.ts";
import type { Asked, Treatment } from "./treatment.ts";

/** The target of a fault, and its duration. */
interface Storm {
  readonly plane: ControlPlane;
  readonly replicas: readonly Replica[];
  readonly dice: Dice;
  readonly sleep: () => Promise<void>;
}

/** A fault that lasts for a while. */
interface Fault {
  readonly name: string;
  readonly strike: (storm: Storm) => Promise<void>;
}

/** Every kind of fault. */
export const faults: readonly Fault[] = [
  ...[429, 500, 503, 403].map((status) =>
    requests(`answers ${status}`, ({ dice }) => {
      const retryAfterSeconds = status === 429 ? 1 : undefined;
      const answer: Treatment = { type: "answer", status, ...(retryAfterSeconds && { retryAfterSeconds }) };
      return () => (dice.chance(0.6) ? answer : { type: "pass" });
    }),
  ),
  requests("reset", ({ dice }) => () => ({ type: dice.pick("reset", "pass") })),
  requests("answers lost", ({ dice }) => ({ isWatch }) => ({
    type: !isWatch && dice.chance(0.7) ? "lose the answer" : "pass",
  })),
  requests("truncated", ({ dice }) => () => ({
    type: "truncate",
    bytes: dice.between(0, 3_000),
    cleanly: dice.chance(0.5),
  })),
  requests("black holes", ({ dice }) => () => ({ type: "black hole", bytes: dice.pick(0, dice.between(0, 3_000)) })),
  requests("delayed", ({ dice }) => () => ({ type: "delay", ms: dice.between(1, 1_500) })),
  {
    name: "GOAWAY",
    strike: async ({ replicas, sleep }) => {
      for (const { proxy } of replicas) proxy.goAway();
      await sleep();
    },
  },
  {
    name: "connections broken",
    strike: async ({ replicas, sleep }) => {
      for (const { proxy } of replicas) proxy.breakConnections();
      await sleep();
    },
  },
  {
    name: "cut off",
    strike: async ({ replicas, sleep }) => {
      for (const { network } of replicas) network.cut();
      await sleep();
      await sleep();
      for (const { network } of replicas) network.mend();
    },
  },
  {
    name: "API server killed and etcd compacted",
    strike: async ({ plane, sleep }) => {
      process.kill(Number(readFileSync(join(dirname(plane.kubeconfig), "kube-apiserver.pid"), "utf8")), "SIGKILL");
      await compact(plane);
      await sleep();
    },
  },
  { name: "etcd compacted", strike: ({ plane }) => compact(plane) },
];

/** Sets a rule for requests. Often breaks the current streams first, so that the rule also affects watches. */
function requests(name: string, rule: (storm: Storm) => (asked: Asked) => Treatment): Fault {
  const strike = async (storm: Storm) => {
    const { replicas, dice } = storm;
    const breaks = dice.chance(0.5);
    for (const { proxy } of replicas) {
      proxy.treat(rule(storm));
      if (breaks) proxy.breakConnections();
    }
    await storm.sleep();
    for (const { proxy } of replicas) proxy.calm();
  };
  return { name, strike };
}

/** Compacts etcd to the current revision: a client that requests changes since an earlier moment receives 410. */
async function compact(plane: ControlPlane): Promise<void> {
  const etcd = readFileSync(join(dirname(plane.kubeconfig), "etcd.url"), "utf8").trim();
  const post = async (path: string, body: object) => {
    const response = await fetch(`${etcd}/v3/kv/${path}`, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    // Nothing was stored since the last compaction.
    if (!response.ok && !text.includes("has been compacted"))
      throw new Error(`etcd: ${path}: ${response.status} ${text}`);
    return text;
  };
  const answer = await post("range", { key: Buffer.from("/").toString("base64") });
  const { header } = JSON.parse(answer) as { readonly header: { readonly revision: string } };
  await post("compaction", { revision: header.revision, physical: true });
}

/** A sequence of faults. */
export interface Weather {
  /** Applies this many faults. All kinds occur, in a random order, before a kind occurs again. */
  readonly storm: (count: number) => Promise<void>;
}

/** Returns weather that depends on dice, and reports each fault. */
export function createWeather(o: {
  readonly plane: ControlPlane;
  readonly replicas: readonly Replica[];
  readonly dice: Dice;
  readonly say: (line: string) => void;
}): Weather {
  const { plane, replicas, dice, say } = o;
  let left: Fault[] = [];
  const next = async () => {
    if (left.length === 0) left = [...faults];
    const [fault] = left.splice(dice.between(0, left.length - 1), 1);
    const one = dice.oneOf(replicas);
    if (fault === undefined || one === undefined) return;
    const struck = dice.chance(0.5) ? replicas : [one];
    const ms = dice.between(100, 2_500);
    say(`${fault.name}: ${struck.length === 1 ? `replica ${replicas.indexOf(one)}` : "all"}, ${ms} ms`);
    const sleep = () => new Promise<void>((resolve) => setTimeout(resolve, ms));
    await fault.strike({ plane, replicas: struck, dice, sleep });
  };
  return {
    storm: async (count) => {
      for (let i = 0; i < count; i++) await next();
    },
  };
}
