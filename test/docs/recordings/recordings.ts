import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../fences.ts";
import { runHalt } from "./halt.ts";
import { type Recording, terminalPicture, wrapped } from "./terminal-picture.ts";

const wave = join(root, "bin/wave");

/** The pictures of terminals in docs/pictures, by file name. Each is made from a real run. */
export async function record(): Promise<ReadonlyMap<string, string>> {
  const recordings = new Map<string, Recording>();
  const { lines, explanation } = await runDemo();
  const steps = lines.slice(0, lines.findIndex((line) => line.startsWith("Done in ")) + 1);
  recordings.set("demo.svg", {
    label: "The demo: an edit of a key that the Pod reads replaces the Pod, an edit of another key does not",
    lines: ["$ npm start", ...steps],
    seconds: 20,
  });
  recordings.set("explain.svg", {
    label: "wave explain shows the state of a Deployment, and each object and key that its Pods read",
    lines: ["$ wave explain deployment/web", ...explanation],
  });
  recordings.set("diff.svg", {
    label: "wave diff compares two folders, and shows which workload a changed key would roll",
    lines: ["$ sed -i s/Hello/Welcome/ shop/nginx.yaml", "$ wave diff -f shop --base main/shop", ...runDiff()],
  });
  recordings.set("halt.svg", {
    label:
      "A bad edit breaks the first of three Deployments, and Wave halts the others. After a good edit, all three are current",
    lines: await runHalt(),
  });
  return new Map(Array.from(recordings, ([name, recording]) => [name, terminalPicture(recording)]));
}

/** Returns the lines of a picture without what differs in each run: names of Pods and ReplicaSets, digests, times, and the line break that a long time causes. */
export function withoutChance(lines: readonly string[]): readonly string[] {
  const names = /\bweb-[a-z0-9]{10}(?:-[a-z0-9]{5})?/g;
  const times = /\b\d+(?:\.\d+)? ?(?:ms|s)\b/g;
  return lines
    .map((line) =>
      line
        .replace(names, "web-…")
        .replace(times, "…")
        .replace(/v2:[0-9a-f]+/g, "v2:…"),
    )
    .join("\n")
    .replace(/\n +(?=… after the edit)/g, "   ")
    .split("\n");
}

/** Returns what `wave diff` prints for an edit of the example, compared with the example itself. */
function runDiff(): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "wave-diff-"));
  try {
    const example = readFileSync(join(root, "examples/nginx.yaml"), "utf8");
    for (const [name, text] of Object.entries({ "main/shop": example, shop: example.replace("Hello", "Welcome") })) {
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, name, "nginx.yaml"), text);
    }
    // The exit code is 1, because a workload would roll.
    const env = { ...process.env, COLUMNS: "88" };
    const args = ["diff", "-f", "shop", "--base", "main/shop"];
    const { status, stdout, stderr } = spawnSync(wave, args, { cwd: folder, encoding: "utf8", env });
    if (status !== 1) throw new Error(`wave diff ended with ${status}: ${stderr}`);
    return stdout.trimEnd().split("\n").flatMap(wrapped);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runDemo(): Promise<{ readonly lines: readonly string[]; readonly explanation: readonly string[] }> {
  const demo = spawn(wave, ["demo", "--keep"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const lines: string[] = [];
    for await (const line of createInterface({ input: demo.stdout })) {
      lines.push(line);
      const kubeconfig = / explain deployment\/web --kubeconfig (\S+)/.exec(line)?.[1];
      if (kubeconfig === undefined) continue;
      const explained = execFileSync(wave, ["explain", "deployment/web", "--kubeconfig", kubeconfig], {
        encoding: "utf8",
        env: { ...process.env, COLUMNS: "88" },
      });
      return { lines, explanation: explained.trimEnd().split("\n").flatMap(wrapped) };
    }
    throw new Error(`the demo ended:\n${lines.join("\n")}`);
  } finally {
    demo.kill("SIGINT");
    if (demo.exitCode === null) await once(demo, "exit");
  }
}
