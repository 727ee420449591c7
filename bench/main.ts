import { writeQuotes } from "./quoted.ts";
import { reporter } from "./report.ts";

/** Each part measures, says what it finds as it goes and gives the lines for bench/README.md; undefined: what is there stays. */
const parts: Readonly<Record<string, () => Promise<readonly string[] | undefined>>> = {
  cost: async () => (await import("./cost-report.ts")).reportCost(say),
  memory: async () => (await import("./memory-report.ts")).reportMemory(say),
  latency: async () => (await import("./write-report.ts")).reportLatency(say),
  trace: async () => (await import("./trace-report.ts")).reportTrace(say),
  "fan-out": async () => (await import("./write-report.ts")).reportFanOut(say),
  burst: async () => (await import("./burst-report.ts")).reportBurst(say),
  load: async () => (await import("./sustained-report.ts")).reportSustained(say),
  admission: async () => (await import("./replica-report.ts")).reportAdmission(say),
  reloader: async () => (await import("./peers-report.ts")).reportReloader(say),
  peers: async () => (await import("./peers-report.ts")).reportPeers(say),
  pinning: async () => (await import("./pinning-report.ts")).reportPinning(say),
  image: async () => (await import("./image.ts")).reportImage(say),
  "high-availability": async () => (await import("./replica-report.ts")).reportHandOver(say),
};

function say(line: string): void {
  console.log(line);
}

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(`bench: no part is called ${unknown.join(" or ")}; there are ${Object.keys(parts).join(", ")}`);
  process.exit(2);
}
const report = reporter();
for (const [name, measure] of Object.entries(parts)) {
  if (named.length > 0 && !named.includes(name)) continue;
  say(`\n${name}`);
  const lines = await measure();
  if (lines !== undefined) report(name, lines);
}
writeQuotes();
