import { execFile } from "node:child_process";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { container, makeNamespace, workload } from "./objects.ts";

const ns = "plugin";

describeOnControlPlane("kubectl with bin/ in the PATH", (cluster) => {
  const kubectl = async (...args: readonly string[]) => {
    const path = [join(import.meta.dirname, "../../bin"), process.env.PATH].join(delimiter);
    const env = { ...process.env, PATH: path, KUBECONFIG: cluster.kubeconfig };
    const { stdout } = await promisify(execFile)(join(controlPlaneFolder(), "kubectl"), args, { env });
    return stdout;
  };

  beforeAll(async () => {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.create(workload("web", { containers: [container] }));
  });

  it("runs wave as its plugin, with its own flags after it", async () => {
    expect(await kubectl("wave", "list", "-n", ns, "-ojson")).toContain('"name": "web"');
    expect(await kubectl("wave", "list", "--help")).toMatch(/^Usage: kubectl wave list /m);
    expect(await kubectl("plugin", "list", "--name-only")).toMatch(/^kubectl-wave$/m);
  });

  it("completes commands, namespaces and workloads", async () => {
    const completed = async (...words: readonly string[]) =>
      (await kubectl("__complete", "wave", ...words)).split("\n");
    expect(await completed("rel")).toContain("release\tRemove a hold");
    expect(await completed("list", "-n", "plu")).toContain("plugin");
    expect(await completed("explain", "-n", ns, "deploy/w")).toContain("deploy/web");
  });
});
