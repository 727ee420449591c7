import { once } from "node:events";
import { Agent, type RequestOptions, request } from "node:https";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { createAuthority, issueServingCertificate } from "../certificates/certificates.ts";
import type { AdmissionResponse } from "./review.ts";
import { type AdmissionServer, type AdmissionServerOptions, type Reviewer, serveAdmission } from "./server.ts";

const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
const authority = createAuthority("authority", validity);
const issueServed = () => {
  const { certificate, key } = issueServingCertificate(authority, ["127.0.0.1"], validity);
  return { certificate: certificate.pem, key, tokens: [token] };
};
const token = "0123456789abcdef0123456789abcdef";
const path = `/mutate/${token}`;

let server: AdmissionServer;
let review: Reviewer;
let metrics: MetricsRegistry;
const start = (change: Partial<AdmissionServerOptions> = {}) =>
  serveAdmission({
    address: "127.0.0.1:0",
    served: issueServed(),
    review: (asked) => review(asked),
    clock: systemClock,
    log: silentLogger,
    metrics,
    ...change,
  });

beforeEach(async () => {
  review = async () => ({ patch: undefined, warnings: [] });
  metrics = new MetricsRegistry();
  server = await start();
});
afterEach(() => server.close());

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
  readonly closes: boolean;
  /** The port of the client, which is the same for all requests on one connection. */
  readonly from: number;
}

async function send(body: string | Buffer, options: RequestOptions = {}): Promise<Answer> {
  const sent = request({
    host: "127.0.0.1",
    port: server.port,
    method: "POST",
    path,
    ca: authority.certificate.pem,
    agent: false,
    ...options,
    headers: { "Content-Type": "application/json", ...options.headers },
  });
  sent.end(body);
  const [response] = await once(sent, "response");
  const from = response.socket.localPort;
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, text, closes: response.headers.connection === "close", from };
}

const reviewOf = (request: object) =>
  JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request: { uid: "u-1", ...request } });

const whole = reviewOf({
  operation: "UPDATE",
  kind: { group: "apps", version: "v1", kind: "Deployment" },
  namespace: "shop",
  name: "web",
  object: { spec: 1 },
  oldObject: { spec: 0 },
});

describe("the admission server", () => {
  it("answers a review with the uid and the patch in base64", async () => {
    const patch = [{ op: "add", path: "/a", value: "ü" }] as const;
    review = async (): Promise<AdmissionResponse> => ({ patch, warnings: ["look"] });
    const { status, text } = await send(whole, { path: `${path}?timeout=5s` });
    const { response, ...rest } = JSON.parse(text);
    expect({ status, ...rest }).toEqual({ status: 200, kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" });
    expect(response).toMatchObject({ uid: "u-1", allowed: true, patchType: "JSONPatch", warnings: ["look"] });
    expect(JSON.parse(Buffer.from(response.patch, "base64").toString())).toEqual(patch);
  });

  it("passes the request to the reviewer", async () => {
    const asked = Promise.withResolvers<unknown>();
    review = async (request) => {
      asked.resolve(request);
      return { patch: undefined, warnings: [] };
    };
    await send(whole);
    expect(await asked.promise).toEqual({
      uid: "u-1",
      operation: "UPDATE",
      kind: { group: "apps", version: "v1", kind: "Deployment" },
      namespace: "shop",
      name: "web",
      subResource: "",
      dryRun: false,
      object: { spec: 1 },
      oldObject: { spec: 0 },
    });
  });

  it.each([undefined, []])("omits an empty patch (%j)", async (patch) => {
    review = async () => ({ patch, warnings: [] });
    expect(JSON.parse((await send(whole)).text).response).toEqual({ uid: "u-1", allowed: true });
  });

  it("allows a request with a warning when the reviewer fails", async () => {
    review = async () => {
      throw new Error("secret");
    };
    const { status, text } = await send(whole);
    expect(status).toBe(200);
    expect(JSON.parse(text).response).toEqual({
      uid: "u-1",
      allowed: true,
      warnings: ["Wave did not change this object: the review failed. See Wave's log."],
    });
  });

  const rejected: readonly (readonly [string, number, string, string, RequestOptions])[] = [
    ["an unknown path", 404, "unknown path", whole, { path: "/mutate" }],
    ["a path that is the right one but for its end", 404, "unknown path", whole, { path: path.slice(0, -1) }],
    ["a path with another token", 404, "unknown path", whole, { path: `/mutate/${"0".repeat(32)}` }],
    ["values without end", 400, "the body has more than 125000 JSON values", `[${"{},".repeat(130_000)}{}]`, {}],
    ["another method", 405, "the method must be POST", whole, { method: "PUT" }],
    [
      "another content type",
      415,
      "the Content-Type must be application/json",
      whole,
      { headers: { "Content-Type": "text/yaml" } },
    ],
    ["no body", 400, "the body is not JSON", "", {}],
    ["a body cut short", 400, "the body is not JSON", whole.slice(0, 40), {}],
    ["another kind", 400, "the body is not an AdmissionReview of admission.k8s.io/v1", '{"kind":"Pod"}', {}],
    ["JSON that is no object", 400, "the body is not an AdmissionReview of admission.k8s.io/v1", "[null]", {}],
    [
      "another version",
      400,
      "the body is not an AdmissionReview of admission.k8s.io/v1",
      whole.replace("k8s.io/v1", "k8s.io/v1beta1"),
      {},
    ],
    [
      "a review without request",
      400,
      "the AdmissionReview has no request",
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}',
      {},
    ],
    ["a request without uid", 400, "the request of the AdmissionReview has no uid", whole.replace("u-1", ""), {}],
    [
      "a body of unknown length",
      411,
      "the Content-Length is missing",
      whole,
      { headers: { "Transfer-Encoding": "chunked" } },
    ],
  ];
  it.each(rejected)(
    "rejects %s with %d and one line, and works afterwards",
    async (_what, status, line, body, options) => {
      expect(await send(body, options)).toMatchObject({ status, text: `${line}\n` });
      expect((await send(whole)).status).toBe(200);
      await eventually(() => {
        for (const code of [status, 200]) expect(metrics.render()).toContain(`{code="${code}"} 1\n`);
      });
    },
  );

  it("rejects a body of more than 4 MiB by its head, without reading it", async () => {
    const socket = await open(server.port);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${(4 << 20) + 1}\r\n\r\n`,
    );
    const [first] = await once(socket, "data");
    expect(String(first)).toMatch(/^HTTP\/1.1 413 .*the body is larger than 4194304 bytes\n$/s);
    await once(socket, "close");
    expect((await send(whole)).status).toBe(200);
  });

  it("reads an object of 1.5 MiB twice, as in an UPDATE", async () => {
    const large = { data: "x".repeat(3 << 19) };
    expect((await send(reviewOf({ object: large, oldObject: large }))).status).toBe(200);
  });

  it("accepts the latest paths, also on existing connections", async () => {
    const agent = new Agent({ keepAlive: true, ca: authority.certificate.pem, maxSockets: 1 });
    const next = "f".repeat(32);
    const first = await send(whole, { agent });
    server.serve({ ...issueServed(), tokens: [token, next] });
    for (const to of [path, `/mutate/${next}`]) {
      expect(await send(whole, { agent, path: to })).toMatchObject({ status: 200, from: first.from });
    }
    server.serve({ ...issueServed(), tokens: [next] });
    expect(await send(whole, { agent, path: `/mutate/${next}` })).toMatchObject({ status: 200, from: first.from });
    expect((await send(whole, { agent })).status).toBe(404);
    agent.destroy();
  });

  it("answers 408 to an incomplete body, and works afterwards", async () => {
    await server.close();
    server = await start({ requestTimeoutMs: 200 });
    const socket = await open(server.port);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"kind"`,
    );
    const [first] = await once(socket, "data");
    expect(String(first)).toMatch(/^HTTP\/1.1 408 /);
    await once(socket, "close");
    expect((await send(whole)).status).toBe(200);
  });

  it("works after the API server disconnected before the response", async () => {
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<AdmissionResponse>();
    review = () => {
      asked.resolve();
      return go.promise;
    };
    const socket = await open(server.port);
    const length = Buffer.byteLength(whole);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${whole}`,
    );
    await asked.promise;
    socket.destroy();
    await once(socket, "close");
    go.resolve({ patch: undefined, warnings: [] });
    expect((await send(whole)).status).toBe(200);
  });

  it("presents a new certificate to new connections and keeps the existing ones", async () => {
    const agent = new Agent({ keepAlive: true, ca: authority.certificate.pem, maxSockets: 1 });
    const first = await send(whole, { agent });
    const before = await open(server.port);
    const next = issueServed();
    server.serve(next);
    const after = await open(server.port);
    expect(after.getPeerX509Certificate()?.toString()).toBe(next.certificate);
    expect(before.getPeerX509Certificate()?.toString()).not.toBe(next.certificate);
    expect(await send(whole, { agent })).toEqual(first);
    for (const socket of [before, after]) socket.destroy();
    agent.destroy();
  });

  it("answers requests in flight before it closes, and keeps no connection", async () => {
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<AdmissionResponse>();
    review = () => {
      asked.resolve();
      return go.promise;
    };
    const idle = await open(server.port);
    const agent = new Agent({ keepAlive: true, ca: authority.certificate.pem });
    const answer = send(whole, { agent });
    await asked.promise;
    const closed = server.close();
    await expect(open(server.port)).rejects.toThrow("ECONNREFUSED");
    go.resolve({ patch: undefined, warnings: [] });
    expect(await answer).toMatchObject({ status: 200, closes: true });
    await closed;
    idle.destroy();
    agent.destroy();
  });

  it("announces the end of each connection in its response while it drains, and answers new connections", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = await send(whole, { agent });
    server.drain();
    const answers = [await send(whole, { agent }), await send(whole, { agent })];
    agent.destroy();
    expect(first).toMatchObject({ status: 200, closes: false });
    expect(answers).toMatchObject([
      { status: 200, closes: true, from: first.from },
      { status: 200, closes: true },
    ]);
    expect(answers[1]?.from).not.toBe(first.from);
  });

  it("names the flag when the port is in use or the address is invalid", async () => {
    const taken = `127.0.0.1:${server.port}`;
    await expect(start({ address: taken })).rejects.toThrow(
      `cannot listen on ${taken}: the port is in use (--webhook-bind-address)`,
    );
    await expect(start({ address: "here" })).rejects.toThrow(
      '"here" is not an address; use a form such as :9443 (--webhook-bind-address)',
    );
  });
});

async function open(port: number): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, ca: authority.certificate.pem });
  await once(socket, "secureConnect");
  return socket;
}
