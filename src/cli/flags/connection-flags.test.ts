import { createServer } from "node:https";
import { describe, expect, it, onTestFinished } from "vitest";
import { kubeconfigFile, runWave } from "../../../test/support/cli/terminal.ts";
import { listen, makeCertificates, serveHttp } from "../../../test/support/kube/server.ts";
import { commands } from "../commands.ts";
import { connectionFlags } from "./connection-flags.ts";

const forbidden = '{"kind":"Status","status":"Failure","code":403,"reason":"Forbidden","message":"no"}';

/** Starts a server that forbids everything, and records who requests it. */
async function forbiddingServer() {
  const seen: unknown[] = [];
  const server = await serveHttp(({ headers, rawHeaders }, response) => {
    const groups = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === "impersonate-group");
    seen.push([headers.authorization, headers["impersonate-user"], groups]);
    response.writeHead(403, { "content-type": "application/json" }).end(forbidden);
  });
  onTestFinished(server.close);
  return { seen, url: `http://127.0.0.1:${server.port}` };
}

function kubeconfig(cluster: object, user: object = {}): { readonly KUBECONFIG: string } {
  const context = { cluster: "a", user: "a" };
  const parts = {
    clusters: [{ name: "a", cluster }],
    users: [{ name: "a", user }],
    contexts: [{ name: "a", context }],
  };
  return { KUBECONFIG: kubeconfigFile({ "current-context": "a", ...parts }) };
}

describe("the connection flags of kubectl", () => {
  it("are flags of each command that reads a cluster, except run and demo, which run a controller", async () => {
    for (const [name, { load }] of Object.entries(commands)) {
      const { accepts } = await load();
      if (accepts === undefined || !("context" in accepts.flags) || ["run", "demo"].includes(name)) continue;
      expect(Object.keys(accepts.flags), name).toEqual(expect.arrayContaining(Object.keys(connectionFlags)));
    }
  });

  it("choose server, token, user and groups, with and without a kubeconfig", async () => {
    const { seen, url } = await forbiddingServer();
    const args = ["list", "-s", url, "--token=t", "--as", "ann", "--as-group=a", "--as-group", "b,c"];
    for (const env of [{}, kubeconfig({ server: "http://127.0.0.1:1" }, { token: "other", as: "robot" })]) {
      seen.length = 0;
      expect(await runWave(args, env)).toMatchObject({ code: 3, err: expect.stringContaining(`, ${url})`) });
      expect(new Set(seen.map((each) => JSON.stringify(each)))).toEqual(
        new Set([JSON.stringify(["Bearer t", "ann", ["a", "b,c"]])]),
      );
    }
  });

  it("connect to a server with any certificate on request", async () => {
    const { server } = makeCertificates();
    const https = await listen(createServer(server, (_, response) => response.writeHead(403).end(forbidden)));
    onTestFinished(https.close);
    const env = kubeconfig({
      server: `https://127.0.0.1:${https.port}`,
      "certificate-authority-data": Buffer.from(makeCertificates().ca).toString("base64"),
    });
    expect((await runWave(["list"], env)).err).not.toContain("403 Forbidden");
    const { code, err } = await runWave(["list", "--insecure-skip-tls-verify"], env);
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining("403 Forbidden") });
  });

  it("limit the time of a request", async () => {
    const silent = await serveHttp(() => {});
    onTestFinished(silent.close);
    const { code, err } = await runWave(["list", `--server=http://127.0.0.1:${silent.port}`, "--request-timeout=20ms"]);
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining("no response within 0.02 s") });
  });

  it.each([
    [["-s", "10.0.0.1:6443"], 'invalid -s: "10.0.0.1:6443"; use a URL such as https://10.0.0.1:6443'],
    [["-s"], "-s has no value; use a URL such as https://10.0.0.1:6443"],
    [["-s", "http://127.0.0.1:1", "--as-group=a"], "--as-group needs --as, the user to impersonate"],
    [["-s", "http://127.0.0.1:1", "--contexts=a,b"], "--server and --contexts exclude each other; use one of the two"],
    [["--request-timeout=soon"], 'invalid --request-timeout: "soon"; use a duration'],
  ])("reject %j", async (args, message) => {
    expect(await runWave(["list", ...args])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`error: ${message}`),
    });
  });

  it("accept a number of seconds as the time limit of a request, and 0 for none", () => {
    const { parse } = connectionFlags["request-timeout"];
    expect(["5", "1m", "0", "0s"].map(parse)).toEqual([5_000, 60_000, 0, 0]);
  });
});
