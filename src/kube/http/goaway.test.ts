import type { Http2Session } from "node:http2";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { clientOf } from "../../../test/support/kube/client.ts";
import { makeCertificates, serveHttp2, type TestCertificates } from "../../../test/support/kube/server.ts";
import { ConnectionError } from "../api/api-failure.ts";

let certificates: TestCertificates;
beforeAll(() => {
  certificates = makeCertificates();
});

/** A watch on a connection whose end the server has announced, and the clock of its client. */
async function watchAfterGoaway() {
  const server = await serveHttp2({ ...certificates.server });
  const sessions: Http2Session[] = [];
  server.server.on("session", (session) => sessions.push(session.on("error", () => {})));
  server.server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    stream.write("1");
  });
  const clock = new FakeClock();
  const { client } = clientOf(`https://127.0.0.1:${server.port}`, { tls: { ca: certificates.ca }, clock });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const open = async () => {
    const chunks = (await client.stream({ method: "GET", path: "/watch" }))[Symbol.asyncIterator]();
    await chunks.next();
    return chunks.next();
  };
  const next = open();
  next.catch(() => {});
  await expect.poll(() => sessions.length).toBe(1);
  await expect.poll(() => clock.pending).toBe(1); // the ping's: the watch is open
  sessions[0]?.goaway(0, 2 ** 31 - 1);
  await expect.poll(() => clock.pending).toBe(2); // and the end's
  return { server, sessions, client, clock, next, open };
}

describe("a watch on a connection whose end the server has announced", () => {
  it("continues for half a minute, then breaks, because no ping would detect a lost peer", async () => {
    const { clock, next, sessions, open } = await watchAfterGoaway();
    let broken = false;
    next.catch(() => {
      broken = true;
    });
    await clock.advance(29_999);
    expect(broken).toBe(false);
    await clock.advance(1);
    await expect(next).rejects.toBeInstanceOf(ConnectionError);
    await expect(next).rejects.toThrow("the API server requested another connection");
    open().catch(() => {});
    await expect.poll(() => sessions.length).toBe(2);
  });

  it("ends when the client is closed", async () => {
    const { client, clock, next } = await watchAfterGoaway();
    await client.close();
    await expect(next).rejects.toBeInstanceOf(ConnectionError);
    await expect.poll(() => clock.pending).toBe(0);
  });
});
