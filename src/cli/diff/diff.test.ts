import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { configHash, sharedWith, updateOnConfigChange } from "../../domain/references/annotations.ts";
import type { WorkloadDifference } from "./workload-difference.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

let scenes = 0;
async function scene() {
  const namespace = `diff-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace);
  /** Runs `wave diff -f -` with these objects as YAML. */
  const run = (objects: readonly object[], ...args: readonly string[]) =>
    runWave(["diff", "-f", "-", "-n", namespace, ...args], cluster.env, {
      input: async function* () {
        yield Buffer.from(objects.map((object) => stringify(object)).join("---\n"));
      },
    });
  const diff = async (objects: readonly object[], ...args: readonly string[]) => {
    const { code, out, err } = await run(objects, "-ojson", ...args);
    expect(err).toBe("");
    const workloads: readonly WorkloadDifference[] = JSON.parse(out).workloads;
    expect(code).toBe(workloads.some(({ effect }) => ["roll", "held", "template"].includes(effect)) ? 1 : 0);
    return workloads;
  };
  /** Creates a workload that is current. */
  const createCurrent = async (path: string, wanted = {}) => {
    await cluster.createWorkload(path, wanted);
    const { currentHash } = await cluster.explained(path);
    const template = { metadata: { annotations: { [configHash]: currentHash } } };
    await cluster.merge(path, { spec: { template } }, "wave");
    await cluster.toBe(path, "current");
  };
  return { ...cluster, namespace, run, diff, createCurrent };
}

const configMap = (name: string, data: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

const deployment = (name: string, image: string, annotations: object = { [updateOnConfigChange]: "true" }) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, annotations },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "web", image, envFrom: [{ configMapRef: { name: "page" } }] }] },
    },
  },
});

describe("wave diff", () => {
  it("lists the workloads that would roll with the changed keys, and no others", async () => {
    const { createConfigMap, createCurrent, diff } = await scene();
    await createConfigMap("page", "1");
    await createConfigMap("other", "1");
    await createCurrent("deployments/web");
    await createCurrent("deployments/other", { envFrom: [{ configMapRef: { name: "other" } }] });
    expect(await diff([configMap("page", { key: "1" })])).toEqual([]);
    // The diff does not mention that Wave waits for the changes to settle.
    expect(await diff([configMap("page", { key: "2" })], "--settle=10s")).toMatchObject([{ effect: "roll" }]);
    expect(await diff([configMap("page", { key: "2", more: "3" }), configMap("other", { key: "1" })])).toMatchObject([
      {
        kind: "Deployment",
        name: "web",
        effect: "roll",
        batch: 1,
        changes: [{ kind: "ConfigMap", name: "page", how: "changed", keys: ["key", "more"] }],
        hold: null,
      },
    ]);
  });

  it("numbers the batches, and shows holds", async () => {
    const { createConfigMap, createCurrent, merge, diff } = await scene();
    await createConfigMap("page", "1");
    for (const name of ["a", "b", "c", "d"]) await createCurrent(`deployments/${name}`);
    await merge("deployments/b", { metadata: { annotations: { "wave.pusher.com/priority": "1" } } });
    await merge("deployments/d", { metadata: { annotations: { "wave.pusher.com/hold": "true" } } });
    const edit = [configMap("page", { key: "2" })];
    const effects = async (...args: readonly string[]) =>
      (await diff(edit, ...args)).map(({ name, effect, batch, hold }) => [name, effect, batch, hold?.reason]);
    expect(await effects("--max-concurrent-rollouts=1")).toEqual([
      ["b", "roll", 1, undefined],
      ["a", "roll", 2, undefined],
      ["c", "roll", 3, undefined],
      ["d", "held", null, "hold"],
    ]);
    expect((await effects("--max-concurrent-rollouts=0"))[0]).toEqual(["a", "roll", null, undefined]);
    await merge("deployments/a", { spec: { paused: true } });
    expect((await diff(edit)).find(({ name }) => name === "a")).toMatchObject({
      effect: "roll",
      batch: null,
      notes: ["The workload is paused. Kubernetes replaces the Pods after it is resumed."],
    });
  });

  it("shows changed pod templates, new workloads, and workloads that would wait", async () => {
    const { createConfigMap, createCurrent, read, diff } = await scene();
    await createConfigMap("page", "1");
    await createCurrent("deployments/web");
    const live = (await read("deployments/web")) as object;
    expect(await diff([deployment("web", "nginx")])).toEqual([]);
    expect(await diff([live])).toEqual([]);
    expect(await diff([deployment("web", "nginx:2"), configMap("page", { key: "2" })])).toMatchObject([
      { effect: "template", reason: 'The pod template changes. ConfigMap "page" changed (key "key").' },
    ]);
    expect(await diff([deployment("next", "nginx"), deployment("ignored", "nginx", {})])).toMatchObject([
      { name: "next", effect: "created" },
    ]);
    const broken = deployment("next", "nginx");
    broken.spec.template.spec.containers[0]?.envFrom.push({ configMapRef: { name: "missing" } });
    expect(await diff([broken])).toMatchObject([{ effect: "waiting", reason: expect.stringContaining('"missing"') }]);
    expect((await diff([broken, configMap("missing", {})]))[0]?.effect).toBe("created");
  });

  it("includes workloads that a Namespace opts in, and readers of shared objects in other namespaces", async () => {
    const [here, there] = [await scene(), await scene()];
    await here.createConfigMap("page", "1");
    await here.createWorkload("deployments/web", { annotations: { [updateOnConfigChange]: undefined } });
    const namespace = {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: here.namespace, annotations: { [updateOnConfigChange]: "true" } },
    };
    expect(await here.diff([namespace])).toMatchObject([{ name: "web", effect: "roll" }]);
    const shared = { annotations: { [sharedWith]: there.namespace } };
    await here.merge("configmaps/page", { metadata: shared });
    const annotations = { "wave.pusher.com/extra-configmaps": `${here.namespace}/page` };
    await there.createCurrent("deployments/reader", { annotations, envFrom: [] });
    expect(await here.diff([configMap("page", { key: "2" }, shared)])).toMatchObject([
      { namespace: there.namespace, name: "reader", effect: "roll" },
    ]);
  });

  it("knows what is due already, and what is no longer due after a revert", async () => {
    const { createConfigMap, createCurrent, editConfigMap, diff } = await scene();
    await createConfigMap("page", "1");
    await createCurrent("deployments/web");
    await editConfigMap("page", "2");
    expect(await diff([configMap("page", { key: "2" })])).toEqual([]);
    expect(await diff([configMap("page", { key: "3" })])).toMatchObject([
      { effect: "roll", reason: 'Already due. ConfigMap "page" changed (key "key").' },
    ]);
    expect(await diff([configMap("page", { key: "1" })])).toMatchObject([{ effect: "notDue" }]);
  });

  it("reports unknown effects for unreadable objects, and all other effects", async () => {
    const { createConfigMap, createCurrent, run, namespace } = await scene();
    await createConfigMap("page", "1");
    const path = `${sandbox.url}/api/v1/namespaces/${namespace}/secrets`;
    const secret = { metadata: { name: "db" }, data: { password: "eA==" } };
    await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(secret),
    });
    await createCurrent("deployments/web", {
      envFrom: [{ configMapRef: { name: "page" } }, { secretRef: { name: "db" } }],
    });
    sandbox.faults.add({
      match: (request) => request.path.includes(`${namespace}/secrets`),
      action: { type: "status", status: 403 },
    });
    const known = await run([configMap("page", { key: "hunter2" })], "-ojson");
    expect(known.code).toBe(1);
    expect(JSON.parse(known.out).workloads).toMatchObject([
      {
        effect: "roll",
        reason:
          'ConfigMap "page" changed (key "key"). This effect assumes that the Pods of the workload are current now.',
      },
    ]);
    const unknown = await run([
      { apiVersion: "v1", kind: "Secret", metadata: { name: "db" }, stringData: { password: "hunter2" } },
    ]);
    sandbox.faults.clear();
    expect(unknown).toMatchObject({ code: 3, out: expect.stringMatching(/Cannot read Secret "db"\.$/m) });
    expect(known.out + known.err + unknown.out + unknown.err).not.toContain("hunter2");
  });

  it("reads many objects by a list, with the same result if it may only get them", async () => {
    const { createConfigMap, createWorkload, run, namespace } = await scene();
    await createConfigMap("page", "1");
    const objects = (count: number) =>
      Array.from({ length: count }, (_, at) => [
        configMap(`page-${at}`, { key: String(at % 3) }),
        deployment(`web-${at}`, `nginx:${at % 2}`),
      ]).flat();
    const create = async (from: number, to: number) => {
      for (let at = from; at < to; at++) {
        // Every seventh object does not exist yet.
        if (at % 7 === 0) continue;
        await createConfigMap(`page-${at}`, "1");
        await createWorkload(`deployments/web-${at}`, { spec: { replicas: 0 } });
      }
    };
    const requested = async (count: number) => {
      const before = sandbox.requests.length;
      const ended = await run(objects(count), "-ojson", "--max-concurrent-rollouts=0");
      const own = sandbox.requests.slice(before).filter(({ userAgent }) => userAgent.startsWith("wave-diff"));
      return { ...ended, requests: own.length };
    };
    await create(0, 20);
    const few = await requested(20);
    await create(20, 100);
    const many = await requested(100);
    expect(few.requests).toBeGreaterThan(0);
    // Each list has a few more pages.
    expect(many.requests).toBeLessThanOrEqual(few.requests + 10);
    const match = ({ path }: { readonly path: string }) => path.endsWith(`${namespace}/configmaps`);
    const remove = sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const each = await requested(100);
    remove();
    expect(each.requests).toBeGreaterThan(many.requests + 90);
    expect({ code: each.code, out: each.out, err: each.err }).toEqual({
      code: many.code,
      out: many.out,
      err: many.err,
    });
    expect(JSON.parse(many.out).workloads.length).toBeGreaterThan(50);
  });

  it("does not report that nothing rolls if it may not list the workloads", async () => {
    const { createConfigMap, createCurrent, run } = await scene();
    await createConfigMap("page", "1");
    await createCurrent("deployments/web");
    const remove = sandbox.faults.add({
      match: ({ path }) => /\/deployments($|\?)/.test(path),
      action: { type: "status", status: 403 },
    });
    const { code, out } = await run([configMap("page", { key: "2" })]);
    remove();
    expect(code).toBe(3);
    expect(out).toContain("Note: Cannot list deployments in ");
  });

  it("notes once that it may not read Namespaces, however many the manifests have", async () => {
    const { env } = await scene();
    const match = ({ path }: { readonly path: string }) => /^\/api\/v1\/namespaces(\/[^/]+)?(\?|$)/.test(path);
    const remove = sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const manifests = ["one", "two", "three"].map((namespace) => configMap("page", { key: "1" }, { namespace }));
    const input = async function* () {
      yield Buffer.from(manifests.map((object) => stringify(object)).join("---\n"));
    };
    const { out, err } = await runWave(["diff", "-f", "-", "--cross-namespace=any"], env, { input });
    remove();
    expect((out + err).match(/Namespace annotations are unknown/g)).toHaveLength(1);
  });

  it("is complete for one namespace, unless an object is shared with others", async () => {
    const { createConfigMap, createCurrent, run } = await scene();
    await createConfigMap("page", "1");
    await createCurrent("deployments/web");
    const elsewhere = /^\/(apis\/[^/]+\/v1\/[a-z]+|api\/v1\/namespaces)(\?|$)/;
    const match = ({ path }: { readonly path: string }) => elsewhere.test(path);
    const remove = sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const alone = await run([configMap("page", { key: "1" })]);
    const shared = await run([configMap("page", { key: "1" }, { annotations: { [sharedWith]: "elsewhere" } })]);
    remove();
    expect(alone).toEqual({ code: 0, out: "No workload is affected.\n", err: "" });
    expect(shared.code).toBe(3);
    expect(shared.err).toContain(
      "Cannot list daemonsets, deployments and statefulsets in other namespaces. Workloads there may read shared objects. ",
    );
  });

  it("shows the changes for hashes under a key that it may not read, with the assumption", async () => {
    const { createConfigMap, createCurrent, merge, run } = await scene();
    await createConfigMap("page", "1");
    await createCurrent("deployments/web");
    const annotations = { [configHash]: `v2-01234567:${"a".repeat(64)}` };
    await merge("deployments/web", { spec: { template: { metadata: { annotations } } } }, "wave");
    const { code, out } = await run([configMap("page", { key: "2" })]);
    expect(code).toBe(1);
    expect(out).toContain(
      'ConfigMap "page" changed (key "key"). This effect assumes that the Pods of the workload are current now.',
    );
    expect(await run([configMap("page", { key: "1" })])).toMatchObject({ code: 0 });
  });

  it("matches regular expressions against objects of the manifests", async () => {
    const { createConfigMap, createWorkload, explained, merge, diff } = await scene();
    const flags = ["--compatibility=stakater", "--reload-on-create"];
    await createConfigMap("page-a", "1");
    const annotations = { [updateOnConfigChange]: undefined, "configmap.reloader.stakater.com/reload": "page-.*" };
    await createWorkload("deployments/web", { annotations, envFrom: [] });
    const { currentHash } = await explained("deployments/web", ...flags);
    const template = { metadata: { annotations: { [configHash]: currentHash } } };
    await merge("deployments/web", { spec: { template } }, "wave");
    expect(await diff([configMap("other", { key: "1" })], ...flags)).toEqual([]);
    expect(await diff([configMap("page-b", { key: "1" })], ...flags)).toMatchObject([
      { name: "web", effect: "roll", changes: [{ name: "page-b", how: "added" }] },
    ]);
  });

  it("reads folders, files and standard input, YAML and JSON, lists and documents", async () => {
    const { createConfigMap, createCurrent, env, namespace } = await scene();
    for (const name of ["a", "b", "c", "d"]) {
      await createConfigMap(name, "1");
      await createCurrent(`deployments/${name}`, { envFrom: [{ configMapRef: { name } }] });
    }
    const folder = mkdtempSync(join(tmpdir(), "wave-diff-"));
    const edit = (name: string) => configMap(name, { key: "2" });
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    };
    put("in/deep/a.yaml", `# a comment\n---\n---\n${stringify(edit("a"))}`);
    put("in/b.json", JSON.stringify({ apiVersion: "v1", kind: "List", items: [edit("b")] }));
    put("in/notes.txt", "no manifest: [");
    put("c.yml", `${stringify(edit("c"))}---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n`);
    const args = ["-f", join(folder, "in"), "-f", `${join(folder, "c.yml")},-`];
    const { code, out } = await runWave(["diff", ...args, "-n", namespace, "-o", "yaml"], env, {
      input: async function* () {
        yield Buffer.from(JSON.stringify(edit("d")));
      },
    });
    expect(code).toBe(1);
    expect(parse(out).workloads.map(({ name }: WorkloadDifference) => name)).toEqual(["a", "b", "c", "d"]);
  });

  it.each([
    { text: "a: 1\nb: [1,\n", message: "f.yaml:3: invalid YAML (" },
    {
      text: "kind: ConfigMap\n---\n\n# x\nkind: ConfigMap\n",
      message: "f.yaml:1: not a Kubernetes object: apiVersion is missing",
    },
    { text: "---\n\n# x\napiVersion: v1\nkind: ConfigMap\n", message: "f.yaml:4: ConfigMap has no metadata.name" },
    {
      text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 1}\n",
      message: "f.yaml:1: metadata.name is not a string; put the value in quotes",
    },
    { text: "a: &a [*a]\n", message: "f.yaml:1: " },
    {
      text: "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]\n",
      message: "f.yaml:1: invalid YAML: an alias",
    },
    { text: `${"[".repeat(5_000)}1${"]".repeat(5_000)}`, message: "f.yaml:1: the document is nested deeper" },
    {
      text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {port: 8080}\n",
      message: 'f.yaml:1: ConfigMap "default/a" is malformed: data has a value that is not a string, at key "port"',
    },
    {
      text: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {volumes: [null]}}}\n",
      message: "f.yaml:1: spec.template.spec.volumes[0] is not an object",
    },
    {
      text: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: {name: app}}}}\n",
      message: "f.yaml:1: spec.template.spec.containers is not a list",
    },
    {
      text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: other}\n",
      args: ["-n", "shop"],
      message: 'f.yaml:1: ConfigMap "a" is in namespace "other", but --namespace is "shop"',
    },
  ])("rejects a bad manifest in one line with its location: $message", async ({ text, message, args = [] }) => {
    const { env } = await scene();
    const file = join(mkdtempSync(join(tmpdir(), "wave-diff-")), "f.yaml");
    writeFileSync(file, text);
    const { code, out, err } = await runWave(["diff", "-f", file, ...args], env);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
    expect(err.split("\n")).toHaveLength(2);
  });

  it.each([
    { args: [], message: "no manifests given; use -f FILE, -f FOLDER, or -f - for standard input" },
    { args: ["web.yaml"], message: 'unexpected argument "web.yaml"; use -f web.yaml' },
    { args: ["-f", "/does/not/exist"], message: "file or folder /does/not/exist not found" },
    { args: ["-f", "-"], message: "no manifest found in standard input" },
  ])("rejects $args in one line", async ({ args, message }) => {
    const { env } = await scene();
    const { code, err } = await runWave(["diff", ...args], env);
    expect(code).toBe(2);
    expect(err).toContain(`error: ${message}`);
  });

  it("leaves out hooks that no upgrade runs, and notes when other hooks run", async () => {
    const { createConfigMap, createCurrent, run } = await scene();
    await createConfigMap("page", "1");
    await createCurrent("deployments/web");
    const hook = (when: string) => configMap("page", { key: "2" }, { annotations: { "helm.sh/hook": when } });
    expect(await run([hook("test")])).toMatchObject({
      code: 0,
      out: 'No workload is affected.\nNote: ConfigMap "page" is left out. It is a Helm hook for test.\n',
    });
    expect(await run([hook("pre-upgrade")])).toMatchObject({ code: 1, out: expect.stringContaining("at pre-upgrade") });
  });

  it("renders names in a comment on a pull request as plain text only", async () => {
    const { createCurrent, run } = await scene();
    const evil = "a`|<img src=x>[x](http://x)@all\n# x";
    await createCurrent("deployments/web", {
      envFrom: [{ configMapRef: { name: "page", optional: true } }, { configMapRef: { name: evil, optional: true } }],
    });
    const missing = deployment("next", "nginx");
    missing.spec.template.spec.containers[0]?.envFrom.push({ configMapRef: { name: evil } });
    const { code, out } = await run([configMap("page", { key: "2" }), missing], "-omarkdown");
    expect(code).toBe(1);
    expect(out).toContain("\n| 1 | `diff-");
    // The whole name is in code spans, and its bars end no cell.
    const row = out.split("\n").find((line) => line.includes("deployment/next")) ?? "";
    expect(row).toContain("``");
    expect(row.replace(/(`+)(?!`).*?[^`]\1(?!`)/g, "")).not.toMatch(/img|http|all/);
    expect(row.replaceAll("\\|", "").split("|")).toHaveLength(6);
  });
});
