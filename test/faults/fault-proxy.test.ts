import { once } from "node:events";
import { connect } from "node:http2";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Listening, makeCertificates, serveHttp2 } from "../support/kube/server.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import type { Treatment } from "./treatment.ts";

const certificates = makeCertificates();
const body = "x".repeat(10_000);

describe("the proxy", () => {
  let server: Listening<Awaited<ReturnType<typeof serveHttp2>>["server"]>;
  let proxy: FaultProxy;
  let heard: string[] = [];
  beforeAll(async () => {
    server = await serveHttp2({ ...certificates.server });
    server.server.on("stream", (stream, headers) => {
      let text = "";
      stream.on("error", () => {}).setEncoding("utf8");
      stream.on("data", (chunk: string) => {
        text += chunk;
      });
      stream.on("end", () => {
        heard.push(`${headers[":method"]} ${headers[":path"]} ${text}`);
        stream.respond({ ":status": 200 });
        stream.end(body);
      });
    });
    const url = new URL(`https://127.0.0.1:${server.port}`);
    proxy = await startFaultProxy({ server: url, ca: certificates.ca, ...certificates.server });
  });
  beforeEach(() => {
    heard = [];
  });
  afterAll(async () => {
    proxy.close();
    await server.close();
  });

  /** Returns the part of the response that a client receives, and the end of the stream. */
  async function ask(treatment: Treatment, meanwhile: (got: () => string) => Promise<void> = async () => {}) {
    proxy.treat(() => treatment);
    const session = connect(proxy.url, { ca: certificates.ca });
    session.on("error", () => {});
    const stream = session.request({ ":method": "PATCH", ":path": "/web?watch=true" });
    stream.on("error", () => {}).setEncoding("utf8");
    let [status, text] = [0, ""];
    stream.once("response", (head) => {
      status = Number(head[":status"]);
    });
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    stream.end("asked");
    // A stream that is reset emits an error first, which `once` would throw.
    const closed = new Promise<void>((resolve) => stream.once("close", () => resolve()));
    await meanwhile(() => text);
    await closed;
    session.destroy();
    return { status, length: text.length, whole: stream.rstCode === 0, heard };
  }

  const asked = ["PATCH /web?watch=true asked"];
  it("forwards requests and responses", async () => {
    const whole = { status: 200, length: body.length, whole: true, heard: asked };
    expect(await ask({ type: "pass" })).toEqual(whole);
    expect(await ask({ type: "delay", ms: 1 })).toEqual({ ...whole, heard: [...asked, ...asked] });
  });

  it("answers in place of the server, which does not receive the request", async () => {
    expect(await ask({ type: "answer", status: 429 })).toMatchObject({ status: 429, whole: true, heard: [] });
  });

  it("resets a request before the server receives it, or after the server has processed it", async () => {
    expect(await ask({ type: "reset" })).toMatchObject({ status: 0, whole: false, heard: [] });
    expect(await ask({ type: "lose the answer" })).toMatchObject({ status: 0, whole: false, heard: asked });
  });

  it("ends a response too early, with and without an error", async () => {
    const cut = { status: 200, length: 100 };
    expect(await ask({ type: "truncate", bytes: 100, cleanly: true })).toMatchObject({ ...cut, whole: true });
    expect((await ask({ type: "truncate", bytes: 100, cleanly: false })).whole).toBe(false);
  });

  it("holds a response back until the fault ends", async () => {
    const answer = await ask({ type: "black hole", bytes: 100 }, async (got) => {
      await expect.poll(() => got().length).toBe(100);
      proxy.calm();
    });
    expect(answer).toMatchObject({ status: 200, length: body.length, whole: true });
  });

  it("sends GOAWAY and breaks connections", async () => {
    const session = connect(proxy.url, { ca: certificates.ca });
    session.on("error", () => {});
    await once(session, "remoteSettings");
    const told = once(session, "goaway");
    proxy.goAway();
    await told;
    const other = connect(proxy.url, { ca: certificates.ca });
    other.on("error", () => {});
    await once(other, "remoteSettings");
    proxy.breakConnections();
    await once(other, "close");
    session.destroy();
  });
});
