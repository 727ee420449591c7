import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Sandbox, startSandbox } from "../../../sandbox/sandbox.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { EventReader } from "../../../test/support/cli/ui.ts";
import { waitedMs } from "../../../test/support/processor-time.ts";
import { sourcesEnv } from "../../../test/support/sources-env.ts";

const main = join(import.meta.dirname, "../../main.ts");
/** Starts `wave demo` from the sources in its own process. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [main, "demo", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    // A variable for a flag of `wave run` must not lead the demo to a cluster.
    env: {
      ...sourcesEnv(),
      HOME: "/does/not/exist",
      WAVE_KUBECONFIG: "/does/not/exist",
      KUBECONFIG: "/neither",
    },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, out, err })),
  );
  const printed = async (text: string): Promise<string> => {
    while (!out.includes(text)) {
      const more = await Promise.race([once(child.stdout, "data"), ended]);
      if (!Array.isArray(more) && !out.includes(text)) throw new Error(`it ended without printing "${text}": ${err}`);
    }
    return out;
  };
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ended, printed };
}

/** Starts a sandbox that stands in for a real cluster, and writes a kubeconfig for it. */
async function realCluster(): Promise<{ sandbox: Sandbox; kubeconfig: string }> {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const folder = mkdtempSync(join(tmpdir(), "wave-demo-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(sandbox.kubeconfig()));
  return { sandbox, kubeconfig };
}

async function demoNamespaces({ url }: Sandbox): Promise<readonly string[]> {
  const answer = await fetch(`${url}/api/v1/namespaces`);
  const list = (await answer.json()) as { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
  return list.items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("wave-demo"));
}

describe("wave demo", () => {
  it("runs all steps with the expected results in less than 10 seconds", async () => {
    const from = performance.now();
    const { child, ended } = start();
    let waited = 0;
    child.stdout.on("data", () => {
      waited = Math.max(waited, waitedMs(child.pid ?? 0));
    });
    const { code, out, err } = await ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(performance.now() - from - waited).toBeLessThan(10_000);
    const lines = [
      /No real\s+cluster is used/,
      /^1\. /m,
      /\$ kubectl apply -f examples\/nginx.yaml/,
      /hash +v2:[0-9a-f]{8} /,
      /ReplicaSet +web-\S+\n/,
      /Pod +web-\S+\n/,
      /^2\. /m,
      /hash +v2:[0-9a-f]{8} → v2:[0-9a-f]{8}\s+\d+ ms/,
      /Event +ConfigChanged\s+Rollout started: ConfigMap "web-page"\s+changed\s+\(key "index.html"\)/,
      /ReplicaSet +web-\S+ → web-\S+\n/,
      /Pod +web-\S+ → web-\S+\n/,
      /^3\. /m,
      /hash +v2:[0-9a-f]{8} \(unchanged\)/,
      /Pod +web-\S+ \(unchanged\)/,
      /^4\. /m,
      /Event +ConfigChanged\s+Rollout started: Secret "web-token"/,
      /Pod +web-\S+ → web-\S+\n/,
      /^Done in \d+\.\d s: 3 changes, .* 2 rollouts\./m,
      /wave demo --keep/,
    ];
    let rest = out;
    for (const line of lines) {
      const found = line.exec(rest);
      expect(found, `${line} in\n${rest}`).not.toBeNull();
      rest = rest.slice((found?.index ?? 0) + (found?.[0].length ?? 0));
    }
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("prints no value of a Secret, and no colours if the output is not a terminal", async () => {
    const { out } = await start().ended;
    expect(out).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/); // the token is a UUID
    expect(out).not.toContain(String.fromCharCode(27));
  });

  it("keeps everything running with --keep until Ctrl-C, and then removes it", async () => {
    const { child, ended, printed } = start("--keep");
    const story = await printed("Log of Wave:");
    const kubeconfig = /--kubeconfig (\S+) edit configmap web-page/.exec(story)?.[1] ?? "";
    const { server } = JSON.parse(readFileSync(kubeconfig, "utf8")).clusters[0].cluster;
    await fetch(`${server}/api/v1/namespaces/default/configmaps/web-page`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ data: { "index.html": "a person's own" } }),
    });
    await printed('reason="ConfigMap \\"web-page\\" changed (key \\"index.html\\")"');
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0, err: "" });
    expect(existsSync(kubeconfig)).toBe(false);
  });

  it("serves the page of a shop whose configuration changes with --ui, until Ctrl-C", async () => {
    const files = ["page.html", "page.js", "page.css"].map((name) => new URL(`../../../dist/${name}`, import.meta.url));
    const { child, ended, printed } = start("--ui");
    if (!files.every((file) => existsSync(file))) {
      expect(await ended).toMatchObject({
        code: 1,
        err: "error: The page of wave ui is not built. Run: bin/wave ui.\n",
      });
      return;
    }
    const url = /http:\/\/127\.0\.0\.1:\d+\/[\w-]+\//.exec(await printed("Press Ctrl-C"))?.[0] ?? "";
    const reader = new EventReader(`${url}events`);
    onTestFinished(() => reader.close());
    const change = await reader.until(({ changes }) =>
      Object.values(changes).find(({ keys, state }) => keys.includes("FEATURE_X") && state === "rolling"),
    );
    expect(change).toMatchObject({ object: "configmap/common", editor: "argocd-controller" });
    await reader.until(({ clusters }) => clusters.demo?.leader ?? undefined);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0, err: "" });
  });

  it("rejects --ui for a cluster", async () => {
    const { code, err } = await runWave(["demo", "--ui", "--context=kind"]);
    expect(code).toBe(2);
    expect(err).toMatch(/^error: --ui runs on its own cluster; .*\n$/);
  });

  it("rejects an unexpected argument in one line", async () => {
    expect(await runWave(["demo", "now"])).toEqual({
      code: 2,
      out: "",
      err: 'error: unexpected argument "now"; see wave demo --help\n',
    });
  });
});

describe("wave demo on a cluster", () => {
  it("runs in a temporary namespace and removes it", async () => {
    const { sandbox, kubeconfig } = await realCluster();
    const { code, out, err } = await start("--kubeconfig", kubeconfig).ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const namespace = /in namespace (wave-demo-[0-9a-f]+)/.exec(out)?.[1];
    expect(out).toContain(`$ kubectl -n ${namespace} edit configmap web-page`);
    expect(await demoNamespaces(sandbox)).toEqual([]);
    const elsewhere = sandbox.requests.filter((request) => request.namespace !== namespace);
    expect(new Set(elsewhere.map(({ resource }) => resource))).toEqual(new Set(["/version", "namespaces"]));
  });

  it("leaves nothing if a signal interrupts it", async () => {
    const { sandbox, kubeconfig } = await realCluster();
    sandbox.faults.add({
      match: ({ method, path }) => method === "PATCH" && path.includes("/configmaps"),
      action: { type: "blackHole" },
    });
    const { child, ended, printed } = start("--kubeconfig", kubeconfig);
    await printed("2. ");
    child.kill("SIGINT");
    const { code, err } = await ended;
    expect({ code, err }).toEqual({ code: 130, err: "error: ended by SIGINT\n" });
    expect(await demoNamespaces(sandbox)).toEqual([]);
  });

  it("leaves nothing if its reader is gone", async () => {
    const { sandbox, kubeconfig } = await realCluster();
    const { child, ended, printed } = start("--kubeconfig", kubeconfig);
    await printed("1. ");
    child.stdout.destroy();
    expect((await ended).code).not.toBe(0);
    expect(await demoNamespaces(sandbox)).toEqual([]);
  });

  it("reports the failed step and its cause in one line, and leaves nothing", async () => {
    const { sandbox, kubeconfig } = await realCluster();
    sandbox.faults.add({
      match: ({ method, path }) => method === "POST" && path.endsWith("/secrets"),
      action: { type: "status", status: 403 },
    });
    const { code, err } = await start("--kubeconfig", kubeconfig).ended;
    expect(code).toBe(3);
    expect(err).toMatch(/^error: step 4: create secrets in wave-demo-\w+: 403.*\n$/);
    expect(await demoNamespaces(sandbox)).toEqual([]);
  });

  it("fails if an edit that no Pod reads changes the Deployment", async () => {
    const { sandbox, kubeconfig } = await realCluster();
    const isCreation = ({ method, path }: { method: string; path: string }) =>
      method === "POST" && path.endsWith("/configmaps");
    const { ended, printed } = start("--kubeconfig", kubeconfig);
    const namespace = /in namespace (\S+),/.exec(await printed("1. "))?.[1];
    // Delays what follows the edit, so that another client can change the Deployment.
    sandbox.faults.add({ match: isCreation, action: { type: "delay", ms: 1000 } });
    await printed("change notes.txt");
    await fetch(`${sandbox.url}/apis/apps/v1/namespaces/${namespace}/deployments/web`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ spec: { template: { metadata: { annotations: { rolled: "for nothing" } } } } }),
    });
    expect(await ended).toMatchObject({
      code: 1,
      err: "error: step 3: Deployment web changed, although no Pod reads the edited key\n",
    });
  });

  it("reports in one line that the cluster is unreachable", async () => {
    const { sandbox, kubeconfig } = await realCluster();
    await sandbox.close();
    const { code, out, err } = await runWave(["demo", "--kubeconfig", kubeconfig]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/^error: cannot reach API server http:\/\/127.0.0.1:\d+: .*ECONNREFUSED.*\n$/);
  });

  it("reports in one line that it may not create a namespace", async () => {
    const { sandbox, kubeconfig } = await realCluster();
    sandbox.faults.add({
      match: ({ method, path }) => method === "POST" && path.endsWith("/namespaces"),
      action: { type: "status", status: 403 },
    });
    const { code, err } = await runWave(["demo", "--kubeconfig", kubeconfig]);
    expect(code).toBe(3);
    expect(err).toMatch(/^error: you do not have permission to create a namespace, which the demo needs: .*\n$/);
  });
});
