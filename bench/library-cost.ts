import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { quantile } from "./plane.ts";
import { waveEnv, waveFlags } from "./wave-node.ts";

/*
 * What a library would cost Wave in memory: bin/node bench/library-cost.ts prom-client pino reflect-metadata+@peculiar/x509
 * Those that are joined by "+" are imported in this order.
 */

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
const node = join(root, "bin/node");
const pairs = 5;

/** A kubeconfig for an address without a server: Wave then loads everything that it runs with, and waits. */
const kubeconfig = {
  clusters: [{ name: "a", cluster: { server: "https://127.0.0.1:1" } }],
  contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
  users: [{ name: "a", user: { token: "none" } }],
  "current-context": "a",
};

/** MiB resident that the packages add to `wave run`: the median over 5 pairs of processes, bundled with and without them. */
async function libraryCost(packages: readonly string[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "library-"));
  try {
    for (const path of ["src", "sandbox", "types", "package.json", "rolldown.config.js"]) {
      await cp(join(root, path), join(folder, path), { recursive: true });
    }
    await writeFile(join(folder, "kubeconfig"), JSON.stringify(kubeconfig));
    await run("npm", ["install", "--no-audit", "--ignore-scripts", "--omit=dev", ...packages], { cwd: folder });
    const bundles = { without: join(folder, "without"), with: join(folder, "with") };
    await bundle(folder, bundles.without);
    const main = join(folder, "src/main.ts");
    const imports = packages.map((name, i) => `import * as library${i} from "${name}";`).join("\n");
    const kept = packages.map((_, i) => `library${i}`).join(", ");
    const added = `${imports}\nObject.assign(globalThis, { kept: [${kept}] });\n`;
    await writeFile(main, added + readFileSync(main, "utf8"));
    await bundle(folder, bundles.with);
    const differences: number[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      differences.push((await resident(folder, bundles.with)) - (await resident(folder, bundles.without)));
    }
    return quantile(differences, 0.5);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function bundle(folder: string, to: string): Promise<void> {
  const rolldown = join(root, "node_modules/rolldown/bin/cli.mjs");
  await run(node, [rolldown, "--config", "rolldown.config.js", "--dir", to], { cwd: folder });
}

async function resident(folder: string, bundled: string): Promise<number> {
  const args = ["run", `--kubeconfig=${join(folder, "kubeconfig")}`, "--log-level=error"];
  const quiet = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  const options = { env: waveEnv, stdio: "ignore" } as const;
  const child = spawn(node, [...waveFlags, join(bundled, "main.js"), ...args, ...quiet], options);
  // Long enough for V8 to collect what loading left behind.
  await sleep(5_000);
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  child.kill();
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

for (const argument of process.argv.slice(2)) {
  console.log(`${argument}: ${(await libraryCost(argument.split("+"))).toFixed(1)} MiB`);
}
