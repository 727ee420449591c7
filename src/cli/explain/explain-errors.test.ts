import { describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { explainScene } from "../../../test/support/cli/explain.ts";
import { kubeconfigFile, runWave } from "../../../test/support/cli/terminal.ts";

const sandbox = await startSandbox({ controllers: false });
const { env, explain } = explainScene(sandbox);

describe("wave explain ends", () => {
  it("with exit code 1 and one line if the workload does not exist", async () => {
    const { code, out, err } = await explain("-n", "shop");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(
      /^error: deployment "web" not found in namespace "shop" \(context sandbox of \S+\)\. Check -n and --context\.\n$/,
    );
  });

  it("with exit code 3 and one line with the cluster if it may not read the workload", async () => {
    sandbox.faults.add({ match: () => true, action: { type: "status", status: 403 } });
    const { code, out, err } = await explain();
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(
      /^error: get deployments\/web in default: 403 Forbidden[^\n]* \(context sandbox of \S+, http:\/\/127\.0\.0\.1:\d+\)\n$/,
    );
  });

  it("with exit code 3 for an unreachable cluster and 2 without a configured cluster, in one line", async () => {
    const clusters = [{ name: "sandbox", cluster: { server: "http://127.0.0.1:1" } }];
    const KUBECONFIG = kubeconfigFile({ ...sandbox.kubeconfig(), clusters });
    const unreachable = await runWave(["explain", "deploy/web"], { KUBECONFIG });
    expect(unreachable).toMatchObject({
      code: 3,
      out: "",
      err: expect.stringMatching(
        /^error: [^\n]*ECONNREFUSED[^\n]* \(context sandbox of \S+, http:\/\/127\.0\.0\.1:1\)\n$/,
      ),
    });
    const nowhere = await runWave(["explain", "deploy/web"]);
    expect(nowhere).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(/^error: no cluster configured[^\n]*\n$/),
    });
  });

  it.each<{ args: string[]; message: string | RegExp }>([
    { args: [], message: "error: no object named; use KIND/NAME, for example deployment/web\n" },
    { args: ["deploy/web", "-oxml"], message: 'error: invalid -o: "xml"; use one of text, json, yaml\n' },
    { args: ["deploy/web", "-n", "Shop"], message: /^error: invalid -n: "Shop"; use a name of [^\n]*\n$/ },
    { args: ["deploy/web", "--cross-namespaces=any"], message: /did you mean --cross-namespace\?\n$/ },
  ])("with exit code 2 and one line for $args", async ({ args, message }) => {
    const { code, out, err } = await runWave(["explain", ...args], env);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });
});
