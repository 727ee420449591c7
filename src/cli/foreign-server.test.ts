import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { kubeconfigFile, runWave } from "../../test/support/cli/terminal.ts";
import { temporaryFiles } from "../../test/support/kube/files.ts";
import { serveHttp } from "../../test/support/kube/server.ts";
import { commands } from "./commands.ts";

/** What another server than an API server responds to each request. */
const answers: Readonly<Record<string, { status: number; type: string; body: string }>> = {
  "a login page": { status: 200, type: "text/html; charset=utf-8", body: "<!doctype html><title>Log in</title>" },
  "a redirection": { status: 302, type: "text/html", body: "<a href='/login'>Found</a>" },
  "a page without permission": { status: 403, type: "text/html", body: "<h1>Forbidden</h1>" },
  "a page that is not found": { status: 404, type: "text/plain; charset=utf-8", body: "404 page not found\n" },
  "JSON that is no list": { status: 200, type: "application/json", body: '{"ok":true}' },
  "JSON that is a list of texts": { status: 200, type: "application/json", body: '["a"]' },
  "a text in JSON": { status: 200, type: "application/json", body: '"ok"' },
  null: { status: 200, type: "application/json", body: "null" },
  nothing: { status: 200, type: "application/json", body: "" },
  "a Status": {
    status: 200,
    type: "application/json",
    body: '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"log in","code":401}',
  },
  "half an object": { status: 200, type: "application/json", body: '{"kind":"Deployment","metadata":{"name":"we' },
};

let answer = answers.null;
const server = await serveHttp((_, response) => {
  response.writeHead(answer?.status ?? 500, { "content-type": answer?.type }).end(answer?.body);
});
afterAll(() => server.close());

const address = `http://127.0.0.1:${server.port}`;
const KUBECONFIG = kubeconfigFile({
  "current-context": "gateway",
  clusters: [{ name: "gateway", cluster: { server: `${address}/k8s/clusters/a` } }],
  contexts: [{ name: "gateway", context: { cluster: "gateway" } }],
});

const manifest = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "page" }, data: { a: "1" } });
const web = "deployment/web";

/** Each command that reads the cluster, with all its uses. */
const calls: Readonly<Record<string, readonly (readonly string[])[]>> = {
  list: [["-A"], ["-A", "--contexts=gateway"]],
  explain: [[web]],
  history: [[web]],
  timeline: [[], ["-A"]],
  doctor: [["-A"], []],
  hold: [[web], ["configmap/page"], ["namespace/shop"], ["--cluster"], ["--cluster", "-n", "wave"]],
  release: [[web], ["--cluster"], ["--scheduling-holds", "-A"]],
  approve: [[web]],
  resume: [[web], ["configmap/page"]],
  roll: [[web]],
  diff: [
    ["-f", "FILE"],
    [web, "--revision=1"],
  ],
  wait: [[web]],
  migrate: [["--dry-run", "-A"]],
};
/** Commands that read no cluster, `run`, which waits for the API server, and `ui`, whose page shows a cluster that cannot be read. */
const others = ["run", "ui", "demo", "completion", "version"];

describe("a server that is no API server", () => {
  it("is tried with each command", () => {
    expect([...Object.keys(calls), ...others].sort()).toEqual(Object.keys(commands).sort());
  });

  const rows = Object.entries(calls).flatMap(([command, uses]) => uses.map((args) => [command, ...args]));
  it.each(rows)("is named with its content type, and what to check, by wave %s %s %s", async (...call) => {
    const file = join(await temporaryFiles(), "page.json");
    writeFileSync(file, manifest);
    const args = call.filter((each) => each !== undefined).map((each) => (each === "FILE" ? file : each));
    for (const [name, each] of Object.entries(answers)) {
      answer = each;
      const { code, out, err } = await runWave(args, { KUBECONFIG });
      const type = each.type.split(";")[0];
      expect.soft({ name, code, out }).toEqual({ name, code: 3, out: "" });
      expect
        .soft(err, name)
        .toMatch(
          new RegExp(
            `^error: [^\\n]*: ${each.status}: the response is not from a Kubernetes API server \\(content type ${type}[^\\n]*\\). Check the server address, the proxy, and whether a gateway requires a login \\(context gateway of \\S+, ${address}/k8s/clusters/a\\)\\n$`,
          ),
        );
    }
  });
});
