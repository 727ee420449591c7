import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../../sandbox/sandbox.ts";
import { pinnedScene } from "../../../../test/support/cli/pinned-scene.ts";
import { runWave } from "../../../../test/support/cli/terminal.ts";

const sandbox = await startSandbox({ controllers: false });
afterAll(() => sandbox.close());

const hash = `v2:${"1".repeat(64)}`;

let scenes = 0;
/** Revision 1 has other content of `page` than there is now, and revision 2 has the same. Neither has `flags` of revision 1. */
async function scene() {
  const namespace = `revision-${++scenes}`;
  const cluster = await pinnedScene(sandbox, namespace);
  await cluster.createConfigMap("page", "new line");
  await cluster.createConfigMap("flags", "1");
  await cluster.createWeb();
  const [page, flags] = [
    await cluster.createCopy("page", { key: "first\nold line\nlast\n", old: "hunter2" }),
    await cluster.createCopy("flags", { key: "1" }),
  ];
  const page2 = await cluster.createCopy("page", { key: "new line" });
  await cluster.createRevision(1, hash, { page, flags });
  await cluster.createRevision(2, hash, { page: page2, flags });
  await cluster.createRevision(3, hash);
  await cluster.createRevision(4, hash, { page: page2, flags });
  const diff = (...args: readonly string[]) => cluster.run("diff", "deploy/web", ...args);
  return { ...cluster, namespace, copies: { page, flags }, diff };
}

describe("wave diff --revision", () => {
  it("lists the keys that differ, without values", async () => {
    const { diff, merge } = await scene();
    await merge("configmaps/page", { data: { key: "first\nnew line\nlast\n", more: "1" } });
    const { code, out, err } = await diff("--revision=1");
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out.split("\n")).toEqual([
      "CONFIGMAP   KEY    CHANGE",
      "page        key    changed",
      "page        more   added",
      "page        old    removed",
      "",
      "3 keys differ between revision 1 and the current configuration.",
      'Note: New Pods read pinned copies of ConfigMap "page", not the current configuration: a change is due, held or rolled back.',
      "",
    ]);
  });

  it("prints values of ConfigMaps if they are requested, with the lines that differ", async () => {
    const { diff, merge } = await scene();
    await merge("configmaps/page", { data: { key: "first\nnew \u001b line\nlast\n" } });
    const { out } = await diff("--revision=1", "--show-values");
    expect(out).toContain("page/key\n- old line\n+ new \\u{1b} line\n\npage/old\n- hunter2\n\n2 keys differ");
    const { differences } = JSON.parse((await diff("--revision=1", "--show-values", "-ojson")).out);
    expect(differences).toContainEqual({
      configMap: "page",
      key: "old",
      how: "removed",
      before: "hunter2",
      after: null,
    });
    expect((await diff("--revision=1", "-ojson")).out).not.toContain("hunter2");
  });

  it("ends with 0 if nothing differs", async () => {
    const { diff } = await scene();
    expect(await diff("--revision=2")).toEqual({
      code: 0,
      out: "No key differs between revision 2 and the current configuration.\n",
      err: "",
    });
  });

  it("shows all keys of a deleted ConfigMap as removed", async () => {
    const { diff, namespace } = await scene();
    await fetch(`${sandbox.url}/api/v1/namespaces/${namespace}/configmaps/flags`, { method: "DELETE" });
    expect((await diff("--revision=2", "-ojson")).out).toContain('"key": "key",\n      "how": "removed"');
  });

  it("compares only what the Pods read now", async () => {
    const { diff, merge } = await scene();
    const valueFrom = { configMapKeyRef: { name: "flags", key: "key" } };
    await merge("deployments/web", {
      spec: { template: { spec: { containers: [{ name: "web", image: "nginx", env: [{ name: "A", valueFrom }] }] } } },
    });
    await merge("configmaps/flags", { data: { unread: "1" } });
    expect((await diff("--revision=2")).code).toBe(0);
  });

  it("names what it does not compare: Secrets, and ConfigMaps that the revision did not pin", async () => {
    const { diff, merge } = await scene();
    const envFrom = [
      { configMapRef: { name: "flags" } },
      { configMapRef: { name: "other" } },
      { secretRef: { name: "db" } },
    ];
    await merge("deployments/web", {
      spec: { template: { spec: { containers: [{ name: "web", image: "nginx", envFrom }] } } },
    });
    const { code, out } = await diff("--revision=2");
    expect(code).toBe(0);
    expect(out).toContain('Note: ConfigMap "other" is not pinned in revision 2, so not compared.\n');
    expect(out).toContain("Note: Secrets are never pinned, so they are not compared.\n");
  });

  it("is incomplete if a copy no longer exists or cannot be read", async () => {
    const { diff, namespace, copies } = await scene();
    const match = ({ path }: { readonly path: string }) => path.endsWith(`${namespace}/configmaps/flags`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const refused = await diff("--revision=2");
    sandbox.faults.clear();
    expect(refused.code).toBe(3);
    expect(refused.err).toMatch(/^warning: ConfigMap "flags" is not compared: [^\n]*403 Forbidden[^\n]*\n$/);
    await fetch(`${sandbox.url}/api/v1/namespaces/${namespace}/configmaps/${copies.flags}`, { method: "DELETE" });
    const gone = await diff("--revision=2");
    expect(gone.code).toBe(3);
    expect(gone.err).toContain(`ConfigMap "flags" is not compared: its copy "${copies.flags}" no longer exists.`);
  });

  it("reports revisions that do not exist or are not pinned", async () => {
    const { diff } = await scene();
    expect(await diff("--revision=9")).toEqual({
      code: 1,
      out: "",
      err: "error: deployment/web has no revision 9. Known revisions: 4, 3, 2 and 1.\n",
    });
    expect(await diff("--revision=3")).toMatchObject({
      code: 1,
      err: "error: revision 3 of deployment/web is not pinned, so its configuration is not stored. See wave history deployment/web.\n",
    });
  });

  it.each([
    {
      args: ["deploy/web"],
      message: '"deploy/web" needs --revision NUMBER; wave history deploy/web lists the revisions.',
    },
    { args: ["shop/web"], message: 'unexpected argument "shop/web"; use -f shop/web' },
    { args: ["deploy/web", "--revision=0"], message: 'invalid --revision: "0"; use a whole number from 1' },
    { args: ["--revision=1"], message: "no workload named; " },
    { args: ["deploy/web", "--revision=1", "-f", "x"], message: "--revision and -f exclude each other; " },
    { args: ["deploy/web", "--revision=1", "-omarkdown"], message: "--revision has no Markdown output; " },
    { args: ["-f", "x", "--show-values"], message: "--show-values needs --revision NUMBER" },
  ])("rejects $args in one line", async ({ args, message }) => {
    const { code, out, err } = await runWave(["diff", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err.startsWith(`error: ${message}`) ? message : err).toBe(message);
  });
});
