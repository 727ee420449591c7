import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect, constants, type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import type { TLSSocket } from "node:tls";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { clientOf } from "../../../test/support/kube/client.ts";
import {
  listen,
  makeCertificates,
  proxyTo,
  serveHttp2,
  type TestCertificates,
} from "../../../test/support/kube/server.ts";
import { ConnectionError } from "../api/api-failure.ts";

let certificates: TestCertificates;
beforeAll(() => {
  certificates = makeCertificates();
});

type Answer = (stream: ServerHttp2Stream, path: string, headers: IncomingHttpHeaders) => void;

const ok: Answer = (stream, path) => {
  stream.respond({ ":status": 200 });
  stream.end(JSON.stringify(path));
};

/** An HTTP/2 server and its sessions. Streams that the client aborts are not errors of a test. */
async function http2Server(answer: Answer, maxConcurrentStreams = 100, serving = certificates.server) {
  const listening = await serveHttp2({ ...serving, settings: { maxConcurrentStreams }, allowHTTP1: false });
  const sessions: Http2Session[] = [];
  listening.server.on("session", (session) => sessions.push(session.on("error", () => {})));
  listening.server.on("stream", (stream, headers) =>
    answer(stream.on("error", () => {}) as ServerHttp2Stream, headers[":path"] ?? "", headers),
  );
  onTestFinished(listening.close);
  return { ...listening, sessions };
}

/** A server without HTTP/2. */
async function http1Server(answer: RequestListener, serving = certificates.server) {
  const listening = await listen(createHttpsServer(serving, answer));
  onTestFinished(listening.close);
  return listening;
}

function clientFor(port: number, options: Parameters<typeof clientOf>[1] = {}) {
  const { client } = clientOf(`https://127.0.0.1:${port}`, {
    ...options,
    tls: { ca: certificates.ca, ...options.tls },
  });
  onTestFinished(() => client.close());
  return client;
}

const get = (path = "/") => ({ method: "GET", path }) as const;
const paths = (count: number) => Array.from({ length: count }, (_, index) => `/${index}`);

describe("the connection to an API server with HTTP/2", () => {
  it("has the whole response that arrived immediately, also for a reader that starts after its end", async () => {
    const length = 100_000;
    let closed: Promise<unknown> | undefined;
    const server = await http2Server((stream) => {
      closed = once(stream, "close");
      stream.respond({ ":status": 200 });
      stream.end("x".repeat(length));
    });
    await using stream = await clientFor(server.port).stream(get());
    await closed;
    // The client notices this in the next turn of the event loop, at the latest.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    let read = 0;
    for await (const part of stream) read += part.length;
    expect(read).toBe(length);
  });

  it("is one for all requests, and one for all watches, so that no event waits for a response", async () => {
    const bySession = new Map<unknown, string[]>();
    const server = await http2Server((stream, path, headers) => {
      const { session } = stream;
      bySession.set(session, [...(bySession.get(session) ?? []), path]);
      if (path === "/watch") stream.respond({ ":status": 200 });
      else ok(stream, path, headers);
    });
    const client = clientFor(server.port);
    await Promise.all([client.stream(get("/watch")), client.stream(get("/watch"))]);
    expect(await Promise.all(paths(60).map((path) => client.request(get(path))))).toEqual(paths(60));
    expect([...bySession.values()]).toEqual([["/watch", "/watch"], paths(60)]);
  });

  it("is supplemented by others when watches fill it, and short requests still succeed", async () => {
    const server = await http2Server((stream, path, headers) => {
      if (path !== "/watch") return ok(stream, path, headers);
      stream.respond({ ":status": 200 });
      stream.write("begun");
    }, 10);
    const client = clientFor(server.port);
    await Promise.all(Array.from({ length: 40 }, () => client.stream(get("/watch"))));
    expect(await Promise.all(paths(30).map((path) => client.request(get(path))))).toEqual(paths(30));
    expect(server.sessions.length).toBeGreaterThan(4);
    expect(server.sessions.length).toBeLessThan(10);
  });

  it("is closed when pings have no response: requests and watches end within seconds and the next ones connect again", async () => {
    const server = await http2Server((stream, path, headers) => {
      if (path === "/now") return ok(stream, path, headers);
      stream.respond({ ":status": 200 });
      stream.write("{");
    });
    const proxy = await proxyTo(server.port);
    onTestFinished(proxy.close);
    const clock = new FakeClock();
    const client = clientFor(proxy.port, { clock });
    const watch = (await client.stream(get("/watch")))[Symbol.asyncIterator]();
    await watch.next();
    await client.request(get("/now"));
    proxy.goSilent();
    const failure = client.request(get("/never")).catch((error: unknown) => error);
    await clock.advance(6_000);
    expect(await failure).toBeInstanceOf(ConnectionError);
    expect(String(await failure)).toContain("get /never: the API server has not responded to a ping for 3 s");
    await expect(watch.next()).rejects.toBeInstanceOf(ConnectionError);
    proxy.forward();
    expect(await client.request(get("/now"))).toBe("/now");
  });

  it("stays open while pings have responses, without any other data", async () => {
    const server = await http2Server((stream, path, headers) => {
      if (path === "/watch") stream.respond({ ":status": 200 });
      else ok(stream, path, headers);
    });
    const clock = new FakeClock();
    const client = clientFor(server.port, { clock });
    const stop = new AbortController();
    const stream = await client.stream({ ...get("/watch"), signal: stop.signal });
    let pings = 0;
    server.sessions[0]?.on("ping", () => pings++);
    for (let count = 1; count <= 20; count++) {
      await clock.advance(3_000);
      await eventually(() => expect(pings).toBe(count));
      // What was answered before has come when this has.
      await client.request(get());
    }
    stop.abort(new Error("20 pings"));
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow("20 pings");
    // One for the watch, and one for the other requests.
    expect(server.sessions).toHaveLength(2);
  });

  it("loses nothing when the server repeatedly requests another connection", async () => {
    let served = 0;
    const server = await http2Server((stream, path, headers) => {
      served += 1;
      if (served % 25 === 0) stream.session?.close(); // GOAWAY, then what was begun is finished
      setTimeout(() => stream.destroyed || ok(stream, path, headers), 2);
    });
    const client = clientFor(server.port);
    const worker = async (name: string) => {
      for (const path of paths(25))
        expect(await client.request({ ...get(`/${name}${path}`), method: "PATCH" })).toBe(`/${name}${path}`);
    };
    await Promise.all(["a", "b", "c", "d", "e", "f", "g", "h"].map(worker));
    expect(served).toBe(200);
    expect(server.sessions.length).toBeGreaterThan(4);
  });

  it("ends a watch with an error if it breaks", async () => {
    const server = await http2Server((stream) => {
      stream.respond({ ":status": 200 });
      stream.write("a", () => setImmediate(() => stream.session?.destroy()));
    });
    const stream = await clientFor(server.port).stream(get("/watch"));
    const read = (async () => {
      for await (const chunk of stream) expect(String(chunk)).toBe("a");
    })();
    await expect(read).rejects.toThrow("get /watch: the connection ended in the middle of a response");
    await expect(read).rejects.toBeInstanceOf(ConnectionError);
  });

  it("fails the request if it breaks after the first part of a response, also before any byte of the body", async () => {
    for (const part of [undefined, '{"a":1}']) {
      const server = await http2Server((stream) => {
        stream.respond({ ":status": 200 });
        if (part !== undefined) stream.write(part);
        setImmediate(() => stream.session?.destroy());
      });
      await expect(clientFor(server.port).request(get())).rejects.toBeInstanceOf(ConnectionError);
    }
  });

  it("is replaced by the next request after it ended", async () => {
    const server = await http2Server(ok);
    const client = clientFor(server.port);
    await client.request(get());
    for (const socket of server.sockets) socket.destroy();
    await expect.poll(() => client.request(get("/again")).catch(() => undefined)).toBe("/again");
    expect(server.sessions).toHaveLength(2);
  });

  it("sends every request again that the server refused to start", async () => {
    let asked = 0;
    const server = await http2Server((stream, path, headers) => {
      asked += 1;
      if (asked < 3) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else ok(stream, path, headers);
    });
    expect(await clientFor(server.port).request({ ...get("/a"), method: "PATCH", body: {} })).toBe("/a");
    expect(asked).toBe(3);
  });

  it("does not send requests again that the server may have started", async () => {
    let asked = 0;
    const server = await http2Server((stream) => {
      asked += 1;
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    });
    const failure = clientFor(server.port).request({ ...get("/a"), method: "PATCH", body: {} });
    await expect(failure).rejects.toBeInstanceOf(ConnectionError);
    expect(asked).toBe(1);
  });

  it("buffers 1 MB of an unread watch, and short requests still work", async () => {
    const written = Promise.withResolvers<void>();
    const server = await http2Server((stream, path, headers) => {
      if (path !== "/watch") return ok(stream, path, headers);
      stream.respond({ ":status": 200 });
      stream.write(Buffer.alloc(1_000_000, " "), () => written.resolve());
    });
    const client = clientFor(server.port);
    const stream = await client.stream(get("/watch"));
    await written.promise;
    expect(await client.request(get("/short"))).toBe("/short");
    await stream[Symbol.asyncDispose]();
  });

  it("accepts long responses in pieces and whole", async () => {
    const long = "ä".repeat(3_000_000);
    const server = await http2Server((stream) => {
      stream.respond({ ":status": 200 });
      stream.end(JSON.stringify(long));
    });
    expect(await clientFor(server.port).request<string>(get())).toBe(long);
  });
});

describe("the certificate of the server", () => {
  it("is checked against the authority and the name in the kubeconfig", async () => {
    const { port } = await http2Server(ok);
    const other = makeCertificates().ca;
    expect(await clientFor(port, { tls: { serverName: "wave.test" } }).request(get("/a"))).toBe("/a");
    expect(await clientFor(port, { tls: { ca: undefined, insecure: true } }).request(get("/b"))).toBe("/b");
    const wrongName = clientFor(port, { tls: { serverName: "other.test" } }).request(get("/c"));
    await expect(wrongName).rejects.toThrow(/^get \/c: .*other\.test/);
    await expect(wrongName).rejects.toBeInstanceOf(ConnectionError);
    await expect(clientFor(port, { tls: { ca: other } }).request(get("/d"))).rejects.toThrow(/^get \/d: .*certificate/);
    await expect(clientFor(port, { tls: { ca: undefined } }).request(get("/e"))).rejects.toThrow(
      /^get \/e: .*certificate/,
    );
  });

  it.each(["HTTP/2", "HTTP/1.1"])(
    "is trusted if any certificate of its chain is, also the issuing authority or itself: %s",
    async (version) => {
      const { ca, chain, server } = certificates;
      const { port } =
        version === "HTTP/2"
          ? await http2Server(ok, 100, chain)
          : await http1Server((_, response) => response.end("1"), chain);
      for (const trusted of [ca, chain.issuing, chain.leaf, server.cert + chain.issuing]) {
        await expect(clientFor(port, { tls: { ca: trusted } }).request(get())).resolves.toBeDefined();
      }
      for (const other of [makeCertificates().ca, server.cert]) {
        await expect(clientFor(port, { tls: { ca: other } }).request(get())).rejects.toThrow(/certificate/);
      }
    },
  );

  it("is checked against a tls-server-name that is an address, which is not sent, without a warning of Node.js", async () => {
    const warnings: unknown[] = [];
    const warned = (warning: unknown) => void warnings.push(warning);
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const sent: unknown[] = [];
    const [http2, http1] = [await http2Server(ok), await http1Server((_, response) => response.end("1"))];
    for (const { server } of [http2, http1]) {
      server.on("secureConnection", ({ servername }: TLSSocket) => sent.push(servername));
    }
    for (const { port } of [http2, http1]) {
      for (const host of ["127.0.0.1", "localhost"]) {
        const named = (serverName: string) => {
          const tls = { ca: certificates.ca, serverName };
          const { client } = clientOf(`https://${host}:${port}`, { tls });
          onTestFinished(() => client.close());
          return client.request(get());
        };
        await expect(named("127.0.0.1")).resolves.toBeDefined();
        for (const other of ["127.0.0.2", "::1"]) await expect(named(other)).rejects.toThrow(/127\.0\.0\.1|IP/);
      }
    }
    // Node.js emits a warning in the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
    expect(new Set(sent)).toEqual(new Set([false]));
  });

  it("has a time limit if there is no response", async () => {
    const server = await http2Server(ok);
    const proxy = await proxyTo(server.port);
    onTestFinished(proxy.close);
    proxy.goSilent();
    const failure = clientFor(proxy.port).request({ ...get("/a"), timeoutMs: 200 });
    await expect(failure).rejects.toThrow("get /a: no response within 0.2 s");
  });

  it("gets no request if no server listens", async () => {
    const server = await http2Server(ok);
    await server.close();
    await expect(clientFor(server.port).request(get("/a"))).rejects.toThrow(/^get \/a: .*ECONNREFUSED/);
  });
});

describe("the client's certificate", () => {
  it("is presented, and a renewed one uses a new connection", async () => {
    const server = await serveHttp2({ ...certificates.server, ca: certificates.ca, requestCert: true });
    onTestFinished(server.close);
    server.server.on("stream", (stream) => {
      const socket = stream.session?.socket as TLSSocket | undefined;
      const user = socket?.getPeerCertificate().subject?.CN;
      stream.respond({ ":status": user === "a" ? 401 : 200 });
      stream.end(JSON.stringify(user));
    });
    const credential = (user: string) => ({ headers: {}, certificate: certificates.client(user) });
    let current = credential("a");
    const credentials = {
      current: async () => current,
      renew: async () => {
        current = credential("b");
        return current;
      },
    };
    const client = clientFor(server.port, { credentials });
    expect(await client.request(get())).toBe("b");
    expect(await client.request(get())).toBe("b");
  });
});

describe("a server without HTTP/2", () => {
  it("gets HTTP/1.1 requests over keep-alive connections", async () => {
    const server = await http1Server((request, response) => response.end(JSON.stringify(request.httpVersion)));
    const client = clientFor(server.port);
    for (let round = 0; round < 5; round++) expect(await client.request(get())).toBe("1.1");
    // One was for finding out.
    expect(server.sockets.size).toBeLessThanOrEqual(2);
  });

  it("receives a request again if it has just closed a keep-alive connection", async () => {
    const https = createHttpsServer({ ...certificates.server, keepAliveTimeout: 1 }, (_, response) =>
      response.end("1"),
    );
    const server = await listen(https);
    onTestFinished(server.close);
    const client = clientFor(server.port);
    for (let round = 0; round < 20; round++) {
      expect(await client.request(get())).toBe(1);
      for (const socket of server.sockets) socket.destroySoon();
    }
  });
});

describe("a test's own server", () => {
  it("offers HTTP/2, so that these tests are about it", async () => {
    const server = await http2Server(ok);
    const session = connect(`https://127.0.0.1:${server.port}`, { ca: certificates.ca });
    await once(session, "connect");
    expect(session.alpnProtocol).toBe("h2");
    session.destroy();
  });
});
