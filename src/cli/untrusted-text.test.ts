import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../sandbox/sandbox.ts";
import { pinnedScene } from "../../test/support/cli/pinned-scene.ts";
import { type Ended, runWave } from "../../test/support/cli/terminal.ts";
import {
  type HostileProxy,
  hostileOutput,
  hostileText,
  marker,
  startHostileProxy,
} from "../../test/support/kube/hostile-proxy.ts";
import { parseCause, writeCause } from "../domain/pacing/cause.ts";
import { policyAnnotations } from "../domain/policy/policy-rows.ts";
import { commands } from "./commands.ts";

// The tests run commands without the guard of the process (src/cli/process), which escapes what a command forgot.
const sandbox = await startSandbox({ controllers: false });
const proxy = await startHostileProxy(sandbox.url);
const folder = join(mkdtempSync(join(tmpdir(), "wave-untrusted-")), hostileText);
mkdirSync(folder);
afterAll(async () => {
  await proxy.close();
  await sandbox.close();
  rmSync(join(folder, ".."), { recursive: true });
});

const namespace = `shop-${marker}`;
/** The namespace as clients of the proxy see it. */
const hostileNamespace = `shop-${hostileText}`;
const file = (name: string) => join(folder, name);

/** Writes a kubeconfig with hostile names, and returns its path. */
function kubeconfig(name: string, cluster: object, user: object): string {
  const context = { cluster: hostileText, user: hostileText, namespace: hostileNamespace };
  writeFileSync(
    file(name),
    JSON.stringify({
      "current-context": hostileText,
      clusters: [{ name: hostileText, cluster }],
      users: [{ name: hostileText, user }],
      contexts: [{ name: hostileText, context }],
    }),
  );
  return file(name);
}

const worlds = {
  hostile: kubeconfig("hostile", { server: proxy.url }, {}),
  "without an API server": kubeconfig("away", { server: "http://127.0.0.1:1" }, {}),
  "with a failing credential plugin": kubeconfig(
    "plugin",
    { server: "https://127.0.0.1:1" },
    {
      exec: {
        apiVersion: "client.authentication.k8s.io/v1",
        interactiveMode: "Never",
        command: "sh",
        args: ["-c", 'printf %s "$0" >&2; exit 3', hostileText],
      },
    },
  ),
  "without a kubeconfig": file("none"),
  "with a broken kubeconfig": file("broken"),
} as const;
writeFileSync(worlds["with a broken kubeconfig"], `contexts: {${hostileText}`);

const everyHostile = Object.fromEntries(policyAnnotations.map((each) => [`wave.pusher.com/${each}`, `1 ${marker}`]));

/** Objects with the marker in each text that others choose. */
async function createObjects(): Promise<void> {
  const scene = await pinnedScene(sandbox, namespace);
  const { createConfigMap, createWorkload, merge } = scene;
  await createConfigMap(`page-${marker}`, "1");
  await createConfigMap("page", "1");
  await createConfigMap("flags", "1");
  await scene.createWeb();
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: `page-${marker}`, key: marker } } }];
  const spec = (containers: object) => ({ template: { metadata: { labels: { app: "x" } }, spec: { containers } } });
  await createWorkload(`deployments/due-${marker}`, { envFrom: [{ configMapRef: { name: `page-${marker}` } }] });
  await createWorkload("deployments/waits", {
    spec: { selector: { matchLabels: { app: "x" } }, ...spec([{ name: marker, image: marker, env }]) },
  });
  await createWorkload("statefulsets/odd", { annotations: everyHostile });
  await createWorkload("daemonsets/held", { annotations: { "wave.pusher.com/hold": "true" } });
  await createWorkload("deployments/asks", { annotations: { "wave.pusher.com/mode": "approve" } });
  const containers = [{ name: "wave", image: "wave", args: ["run", `--window=Mon ${marker}`, "--settle=0"] }];
  await createWorkload(`deployments/wave-${marker}`, {
    labels: { "app.kubernetes.io/name": "wave" },
    spec: { template: { metadata: { labels: { app: `wave-${marker}` } }, spec: { containers } } },
  });
  await merge("configmaps/flags", { data: { [marker]: "2" } }, marker);
  const copy = await scene.createCopy("flags", { [marker]: "1" }, `someone ${marker}`);
  const later = await scene.createCopy("flags", { key: "1", [`${marker}2`]: "2" }, `someone ${marker}`);
  const hash = await scene.pin({ flags: later });
  const first = `v2:${"1".repeat(64)}`;
  // The annotation is JSON in JSON, in which the proxy could not write.
  const [at, text] = [Date.now(), hostileText.slice(0, 60)];
  const edit = { kind: "Secret", namespace: text, name: text, keys: [text], at, by: text } as const;
  const cause = writeCause(first, { at, why: text, edits: [edit], heldBy: text });
  expect(parseCause(first, cause)?.edits).toHaveLength(1);
  await scene.createRevision(1, first, { flags: copy }, cause);
  await scene.createRevision(2, hash, { flags: later });
  await scene.createPod({ revision: 2, hash, pinned: { flags: later }, reads: ["page", later] });
  await scene.complete();
  const message = `failed: ${marker}`;
  const patch = async (path: string, status: object) => {
    const headers = { "content-type": "application/merge-patch+json" };
    const at = `${sandbox.url}${path}/status`;
    const { ok } = await fetch(at, { method: "PATCH", headers, body: JSON.stringify({ status }) });
    expect(ok).toBe(true);
  };
  const conditions = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message }];
  await patch(`/apis/apps/v1/namespaces/${namespace}/deployments/web`, { conditions });
  await patch(`/apis/apps/v1/namespaces/${namespace}/deployments/due-${marker}`, { conditions });
  const waiting = { name: "web", ready: false, restartCount: 3, state: { waiting: { reason: "Error", message } } };
  await patch(`/api/v1/namespaces/${namespace}/pods/web-1`, { containerStatuses: [waiting] });
}

const manifest = (kind: string, name: string, rest: object) =>
  JSON.stringify({ apiVersion: kind === "ConfigMap" ? "v1" : "apps/v1", kind, metadata: { name }, ...rest });
const manifests = file("manifests.json");
writeFileSync(manifests, manifest("ConfigMap", `page-${hostileText}`, { data: { [hostileText]: "2", key: "3" } }));
const wrongManifests = file("wrong.yaml");
writeFileSync(wrongManifests, manifest(hostileText, hostileText, { metadata: { name: 1, namespace: hostileText } }));
const brokenManifests = file("broken.yaml");
writeFileSync(brokenManifests, `{ "${hostileText}: [`);
const notify = file("notify.yaml");
writeFileSync(notify, JSON.stringify({ receivers: [{ name: hostileText, type: hostileText, [hostileText]: 1 }] }));

/** The arguments with which each command runs. A command without a row fails a test. */
const rows: Readonly<Record<string, readonly (readonly string[])[]>> = {
  list: [
    [],
    ["-o", "wide"],
    ["-o", "json"],
    ["-o", "yaml"],
    ["-A"],
    ["--state", hostileText],
    ["--contexts", hostileText],
    ["--contexts", hostileText, "--state", "failed"],
  ],
  explain: ["deploy/web", "deploy/waits", "sts/odd", "ds/held", `deploy/${hostileText}`].flatMap((name) => [
    [name],
    [name, "-o", "yaml"],
  ]),
  history: [["deploy/web"], ["deploy/web", "-o", "json"], ["sts/odd"]],
  // The page has tests of its own: src/cli/ui/ui.sandbox.test.ts.
  ui: [[hostileText], [`--port=${hostileText}`], ["--contexts", hostileText, "--port", "x"]],
  timeline: [[], ["-A"], ["-o", "json"]],
  doctor: [[], ["-o", "json"], ["-A"]],
  hold: [["deploy/web", "sts/odd", "cm/page"], ["ns/default"], ["--cluster", "--reason", hostileText]],
  release: [["deploy/web", "sts/odd", "ds/held"], ["--cluster"], ["--scheduling-holds"], ["--scheduling-holds", "-A"]],
  approve: [["deploy/asks"], ["deploy/waits", "sts/odd"], [`deploy/${hostileText}`]],
  resume: [["deploy/web"], ["sts/odd"], ["cm/page"], [`cm/${hostileText}`]],
  roll: [["ds/held"], ["deploy/waits"], ["sts/odd"]],
  diff: [
    ...["table", "markdown", "json", "yaml"].map((form) => ["-f", manifests, "-o", form]),
    ...["table", "markdown"].map((form) => ["-f", manifests, "--base", manifests, "-o", form]),
    ...[wrongManifests, brokenManifests, file("none.yaml")].map((name) => ["-f", name]),
    ["deploy/web", "--revision", "1"],
    ["deploy/web", "--revision", "1", "--show-values"],
    ["deploy/web", "--revision", "1", "-o", "json"],
    ["deploy/web", "--revision", "9"],
  ],
  wait: [["deploy/web", "deploy/waits", "sts/odd", "--timeout=0"]],
  // `wave run` with objects of others has a test of its own: src/manager/untrusted-text.sandbox.test.ts.
  run: [["--notify", notify], [hostileText], [`--window=${hostileText}`], [`--${hostileText}`]],
  migrate: [["--dry-run"], ["--dry-run", "-o", "json"], ["--dry-run", "-A"]],
  demo: [
    ["--kubeconfig", worlds.hostile],
    ["--kubeconfig", worlds.hostile, "--context", hostileText],
  ],
  completion: [["bash"], [hostileText]],
  version: [[], [hostileText]],
};

/** Commands that print nothing of others. */
const closed: readonly string[] = ["version"];

const run = (args: readonly string[], kubeconfig: string, inColor = false): Promise<Ended> =>
  runWave(
    args,
    { KUBECONFIG: kubeconfig, WAVE_SETTLE: "0", TERM: "xterm", PATH: process.env.PATH ?? "" },
    {
      outputToTerminal: inColor,
      outputColumns: inColor ? 60 : undefined,
    },
  );

/** Fails if an output contains what a terminal would execute. Tabs are only allowed in completions. */
function expectClean(args: readonly string[], { out, err }: Ended): void {
  for (const text of [out, err])
    expect(hostileOutput.exec(text)?.[0], `${args.join(" ")} prints ${JSON.stringify(text)}`).toBeUndefined();
}

/** Ends the demo at its first step, and lets it find its Namespace removed. */
const failFirstStep: HostileProxy["rejects"] = ({ method, path }) => {
  if (method === "DELETE") return 404;
  return method === "POST" && path.includes("deployments") ? 403 : undefined;
};

beforeAll(createObjects);

it("has a row for each command", () => {
  expect(Object.keys(rows)).toEqual(Object.keys(commands));
});

describe.each(Object.entries(rows))("the output of wave %s", (name, lines) => {
  it("has no characters of others that a terminal executes", async () => {
    let shown = 0;
    const check = async (args: readonly string[], kubeconfig: string, inColor = false) => {
      const ended = await run(args, kubeconfig, inColor);
      expectClean(args, ended);
      if (`${ended.out}${ended.err}`.includes("EVIL")) shown += 1;
    };
    const usual = name === "demo" ? failFirstStep : () => undefined;
    // `wave run` waits for an API server that does not answer.
    const ofCluster = name === "run" ? [] : lines;
    proxy.rejects = usual;
    for (const args of ofCluster) {
      await check([name, ...args], worlds.hostile);
      await check([name, ...args], worlds.hostile, true);
    }
    proxy.rejects = () => 403;
    for (const args of name === "run" ? lines : lines.slice(0, 2)) await check([name, ...args], worlds.hostile);
    proxy.rejects = ({ method, path }) => (method !== "GET" || /pods|configmaps/.test(path) ? 403 : undefined);
    for (const args of ofCluster) await check([name, ...args], worlds.hostile);
    proxy.rejects = usual;
    for (const kubeconfig of ofCluster.length === 0 ? [] : Object.values(worlds).slice(1))
      await check([name, ...(lines[0] ?? [])], kubeconfig);
    const [first = []] = lines;
    await check(
      [name, "--context", hostileText, ...first],
      worlds[name === "run" ? "without a kubeconfig" : "hostile"],
    );
    await check([name, `--${hostileText}`], worlds.hostile);
    if (!closed.includes(name)) expect(shown).toBeGreaterThan(0);
  });
});

it("offers no characters of others that a terminal executes, and unknown commands print none", async () => {
  for (const words of [
    ["list", "-n", ""],
    ["explain", "deployment/"],
    ["hold", "cm/"],
    ["explain", ""],
  ]) {
    const { out, err, code } = await run(["__complete", ...words], worlds.hostile);
    expectClean(words, { code, err, out: out.replaceAll("\t", " ") });
    if (words.length > 2 || words[1] !== "") expect(out).toContain("EVIL");
  }
  for (const args of [[hostileText], ["help", hostileText]]) expectClean(args, await run(args, worlds.hostile));
});
