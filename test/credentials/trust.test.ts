import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { startSandbox } from "../../sandbox/sandbox.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { kubeconfigOf, temporaryFiles } from "../support/kube/files.ts";
import { listen, makeCertificates } from "../support/kube/server.ts";

const main = join(import.meta.dirname, "../../src/main.ts");

/** Runs `wave list` as a process of its own: Node.js reads the trust store of the machine only once. */
async function list(
  kubeconfig: string,
  { env = {}, node = [] }: { readonly env?: Record<string, string>; readonly node?: readonly string[] } = {},
) {
  const child = spawn(process.execPath, [...node, main, "list", "--kubeconfig", kubeconfig], {
    env: { PATH: process.env.PATH, HOME: "/nonexistent", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const [code] = await once(child, "close");
  return { code, output };
}

it("trusts the authorities of the machine and of SSL_CERT_FILE if the kubeconfig names none", async () => {
  const { ca, server } = makeCertificates();
  const sandbox = await startSandbox({ controllers: false, tls: server });
  onTestFinished(sandbox.close);
  const folder = await temporaryFiles({ config: kubeconfigOf({ cluster: { server: sandbox.url } }), ca });
  const config = join(folder, "config");
  expect(await list(config, { env: { SSL_CERT_FILE: join(folder, "ca") } })).toMatchObject({ code: 0 });
  expect(await list(config)).toMatchObject({ code: 3, output: expect.stringContaining("certificate") });
});

describeOnControlPlane("Wave and kubectl", (cluster) => {
  const { ca, chain } = makeCertificates();
  const other = makeCertificates().ca;

  /** Forwards requests to the API server as its administrator, with a certificate that an issuing authority has signed. */
  async function startGateway() {
    const admin = parse(readFileSync(cluster.kubeconfig, "utf8"));
    const pem = (section: Record<string, string>, name: string) => Buffer.from(section[`${name}-data`] ?? "", "base64");
    const [{ cluster: target }, { user }] = [admin.clusters[0], admin.users[0]];
    const access = {
      ca: pem(target, "certificate-authority"),
      ...(user["client-key-data"] && { cert: pem(user, "client-certificate"), key: pem(user, "client-key") }),
    };
    const gateway = await listen(
      createServer(chain, ({ method, url, headers }, response) => {
        const authorization = user.token === undefined ? [] : [`Bearer ${user.token}`];
        const sent = request(new URL(url ?? "", target.server), {
          method,
          headers: { ...headers, host: new URL(target.server).host, authorization },
          ...access,
        });
        sent.on("response", (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        });
        sent.on("error", () => response.destroy());
        sent.end();
      }),
    );
    onTestFinished(gateway.close);
    return gateway.port;
  }

  it("connect with the same authorities and names", async () => {
    const port = await startGateway();
    const folder = await temporaryFiles({ root: ca, issuing: chain.issuing, leaf: chain.leaf, other });
    const rows: readonly (readonly [connects: boolean, cluster: object, env?: Record<string, string>])[] = [
      [true, { "certificate-authority": "root" }],
      [true, { "certificate-authority": "issuing" }],
      [true, { "certificate-authority": "leaf" }],
      [false, { "certificate-authority": "other" }],
      [false, {}],
      [true, {}, { SSL_CERT_FILE: join(folder, "root") }],
      [true, {}, { SSL_CERT_FILE: join(folder, "issuing") }],
      [false, {}, { SSL_CERT_FILE: join(folder, "other") }],
      [false, { "certificate-authority": "other" }, { SSL_CERT_FILE: join(folder, "root") }],
      [true, { "certificate-authority": "root", server: `https://localhost:${port}`, "tls-server-name": "127.0.0.1" }],
      [true, { "certificate-authority": "root", server: `https://localhost:${port}`, "tls-server-name": "wave.test" }],
      [false, { "certificate-authority": "root", "tls-server-name": "127.0.0.2" }],
      [false, { "certificate-authority": "root", "tls-server-name": "other.test" }],
    ];
    // Without credentials, kubectl prompts.
    const user = { token: "replaced by the gateway" };
    for (const [connects, fields, env = {}] of rows) {
      const config = join(folder, "config");
      await writeFile(config, kubeconfigOf({ cluster: { server: `https://127.0.0.1:${port}`, ...fields }, user }));
      const { kubectl, wave } = { kubectl: await version(config, env), wave: await list(config, { env }) };
      expect({ fields, env, kubectl: kubectl === 0, wave: wave.code === 0 }).toEqual({
        fields,
        env,
        kubectl: connects,
        wave: connects,
      });
      expect(wave.output).not.toMatch(/Warning|DEP\d/);
    }
  });

  /** Returns the exit code of kubectl. */
  async function version(kubeconfig: string, env: Record<string, string>): Promise<number> {
    const child = spawn(
      join(controlPlaneFolder(), "kubectl"),
      ["--kubeconfig", kubeconfig, "get", "--raw", "/version"],
      {
        env: { PATH: process.env.PATH, HOME: "/nonexistent", ...env },
        stdio: "ignore",
      },
    );
    const [code] = await once(child, "close");
    return code;
  }
});

/** A server on 127.0.0.1 that denies every request. While it is stopped and full, the kernel ignores further connections. */
const denyingServer = `require("node:http")
  .createServer((_, response) => response.writeHead(403, { "content-type": "application/json" }).end("{}"))
  .listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () { console.log(this.address().port) })`;

/** A module that gives every name an IPv4 address, and an IPv6 address for documentation, to which no route leads. */
const twoAddresses = `data:text/javascript,import dns from "node:dns";
  dns.lookup = (name, options, done) => done(null, [{ address: "127.0.0.1", family: 4 }, { address: "2001:db8::1", family: 6 }]);`;

it("waits for a slow handshake over IPv4 if IPv6 has no route", async () => {
  const server = spawn(process.execPath, ["--eval", denyingServer], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  const port = Number(String((await once(server.stdout, "data"))[0]));
  /** The number of clients whose first packet has had no answer. */
  const unanswered = () => {
    const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
    const sockets = readFileSync("/proc/net/tcp", "utf8").split("\n");
    return sockets.filter((line) => {
      const [, , remote = "", state] = line.trim().split(/\s+/);
      return remote.endsWith(suffix) && state === "02";
    }).length;
  };
  server.kill("SIGSTOP");
  const fillers = Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  onTestFinished(() => {
    for (const socket of fillers) socket.destroy();
  });
  await expect.poll(unanswered).toBe(2);
  const config = join(
    await temporaryFiles({ config: kubeconfigOf({ cluster: { server: `http://api.test:${port}` } }) }),
    "config",
  );
  const listed = list(config, { node: ["--import", twoAddresses] });
  await expect.poll(unanswered).toBeGreaterThan(2);
  // The kernel of the client sends its packet again after a second.
  server.kill("SIGCONT");
  expect((await listed).output).toContain("403");
});
