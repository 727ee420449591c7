import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Sandbox, startSandbox } from "../../../sandbox/sandbox.ts";
import { root } from "../fences.ts";

const wave = join(root, "bin/wave");
const names = ["api", "mail", "web"] as const;
const columns = "88";

/**
 * Returns what a person sees who breaks a ConfigMap that three Deployments read, and repairs it: the canary fails, and the others are halted.
 * The sandbox is the cluster, and the times are short.
 */
export async function runHalt(): Promise<readonly string[]> {
  let isBroken = false;
  const sandbox = await startSandbox({ crashes: () => isBroken });
  const folder = mkdtempSync(join(tmpdir(), "wave-halt-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(sandbox.kubeconfig()));
  const environment = { ...process.env, KUBECONFIG: kubeconfig, COLUMNS: columns };
  // Recorded configuration starts no interval, so the first Deployment is always the canary.
  const flags = ["--first-sight=record", "--settle=100ms", "--rollout-timeout=2s", "--soak=100ms"];
  const controller = spawn(wave, ["run", ...flags], { env: environment, stdio: "ignore" });
  // Not blocking: the sandbox, which answers the command, is in this process.
  const call = async (...args: readonly string[]) => {
    // In a cluster with an installed Wave, commands read these flags from its Deployment.
    const command = spawn(wave, [...args, ...flags], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    for await (const chunk of command.stdout) text += chunk;
    return text.trimEnd().split("\n");
  };
  const until = async (...wanted: readonly string[]) => {
    for (;;) {
      const lines = await call("list");
      const states = lines.slice(1).map((line) => line.split(/\s+/));
      if (states.map(([, state, , , reason]) => `${state} ${reason}`).join() === wanted.join()) return lines;
      if (controller.exitCode !== null) throw new Error(`wave run ended with ${controller.exitCode}`);
    }
  };
  const edit = (page: string) => apply(sandbox, "PUT", "/api/v1/namespaces/default/configmaps/page", configMap(page));
  try {
    await apply(sandbox, "POST", "/api/v1/namespaces/default/configmaps", configMap("v1"));
    await nextSecond();
    for (const name of names)
      await apply(sandbox, "POST", "/apis/apps/v1/namespaces/default/deployments", deployment(name));
    await until("current -", "current -", "current -");
    isBroken = true;
    await edit("v2");
    const halted = await until("failed timeout", "held halted", "held halted");
    isBroken = false;
    await edit("v3");
    const repaired = await until("current -", "current -", "current -");
    const edited = ["$ kubectl edit configmap page", "configmap/page edited"];
    return [...edited, "$ wave list", ...halted, ...edited, "$ wave list", ...repaired];
  } finally {
    controller.kill("SIGKILL");
    if (controller.exitCode === null && controller.signalCode === null) await once(controller, "exit");
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until Pods are newer than the ConfigMap by the times of the API, which are whole seconds. */
async function nextSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1000);
  while (Math.floor(Date.now() / 1000) === second) await sleep(20);
}

async function apply({ url }: Sandbox, method: string, path: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}

function configMap(page: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "page" }, data: { "index.html": page } };
}

function deployment(name: string): object {
  const annotations = { "wave.pusher.com/update-on-config-change": "true" };
  const container = { name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "page" } }] };
  const template = { metadata: { labels: { app: name } }, spec: { containers: [container] } };
  const spec = { replicas: 2, selector: { matchLabels: { app: name } }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, annotations }, spec };
}
