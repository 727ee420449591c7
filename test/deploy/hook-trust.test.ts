import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { temporaryFiles } from "../support/kube/files.ts";
import { listen, makeCertificates, type TestCertificates } from "../support/kube/server.ts";

const script = readFileSync(join(import.meta.dirname, "../../deploy/chart/files/request.mjs"), "utf8");

let certificates: TestCertificates;
beforeAll(() => {
  certificates = makeCertificates();
});

/** Sends a request as the scripts of the hooks do, to a server whose certificate an issuing authority has signed. */
async function requestTrusting(authority: string): Promise<string> {
  const server = createServer(certificates.chain, ({ method, headers }, response) =>
    response.end(JSON.stringify({ method, token: headers.authorization })),
  );
  const { port, close } = await listen(server);
  onTestFinished(close);
  const folder = await temporaryFiles({ authority, token: "t\n" });
  const run = `${script}\nconsole.log(JSON.stringify(await request("PATCH", "/a", { a: 1 })));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", run], {
    env: {
      ...{ CA_FILE: join(folder, "authority"), TOKEN_FILE: join(folder, "token") },
      ...{ KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(port) },
    },
  });
  return stdout;
}

it("the scripts of the hooks trust any certificate of ca.crt, like Wave", async () => {
  const { ca, chain, server } = certificates;
  for (const trusted of [ca, chain.issuing, chain.leaf]) {
    expect(JSON.parse(await requestTrusting(trusted))).toEqual({ method: "PATCH", token: "Bearer t" });
  }
  await expect(requestTrusting(server.cert)).rejects.toThrow(/certificate/);
});
