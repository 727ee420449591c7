import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { createAuthority, issueServingCertificate } from "../certificates/certificates.ts";
import { type AdmissionServer, type AdmissionServerOptions, serveAdmission } from "./server.ts";

const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
const authority = createAuthority("authority", validity);
const { certificate, key } = issueServingCertificate(authority, ["127.0.0.1"], validity);
const token = "0123456789abcdef0123456789abcdef";
const served = { certificate: certificate.pem, key, tokens: [token] };
const limits = { total: 40, unauthenticated: 20, unauthenticatedMs: 60_000 };

const review = JSON.stringify({
  kind: "AdmissionReview",
  apiVersion: "admission.k8s.io/v1",
  request: { uid: "u" },
});
const head = (path: string, length: number, more = "") =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`;
const asked = (body = review) => head(`/mutate/${token}`, Buffer.byteLength(body)) + body;

let server: AdmissionServer;
let reviews: number;
let metrics: MetricsRegistry;
let sockets: Socket[];
const start = async (change: Partial<AdmissionServerOptions> = {}) => {
  server = await serveAdmission({
    address: "127.0.0.1:0",
    served,
    review: async () => {
      reviews++;
      return { patch: undefined, warnings: [] };
    },
    clock: systemClock,
    log: silentLogger,
    metrics,
    connections: limits,
    ...change,
  });
};
beforeEach(async () => {
  reviews = 0;
  metrics = new MetricsRegistry();
  sockets = [];
  await start();
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

function keep<S extends Socket>(socket: S): S {
  // A rejected client may see a reset.
  socket.on("error", () => {});
  sockets.push(socket);
  return socket;
}
/** Addresses of an unauthenticated client and of the API server. */
const dial = () => keep(connectTcp({ host: "127.0.0.1", port: server.port }));
async function open(localAddress = "127.0.0.1", options: ConnectionOptions = {}): Promise<TLSSocket> {
  const ca = authority.certificate.pem;
  const to: ConnectionOptions & { readonly localAddress: string } = {
    host: "127.0.0.1",
    port: server.port,
    localAddress,
  };
  const socket = keep(connect({ ca, ...to, ...options }));
  await once(socket, "secureConnect");
  return socket;
}
const apiServer = () => open("127.0.0.2");
async function ask(socket: TLSSocket, text = asked()): Promise<string> {
  socket.write(text);
  const [answer] = await once(socket, "data");
  return String(answer).slice(0, 12);
}
const alive = () => sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;

describe("an unauthenticated client", () => {
  it("gets 404 before its body is read, and loses the connection", async () => {
    const socket = await open();
    expect(await ask(socket, head("/mutate", 1e9))).toBe("HTTP/1.1 404");
    await eventually(() => expect(socket.readableEnded || socket.destroyed).toBe(true));
  });

  it("gets no 100 Continue, unlike clients that know the path", async () => {
    const expectation = "Expect: 100-continue\r\n";
    expect(await ask(await open(), head("/mutate", 10, expectation))).toBe("HTTP/1.1 404");
    const known = await apiServer();
    expect(await ask(known, head(`/mutate/${token}`, review.length, expectation))).toBe("HTTP/1.1 100");
    expect(await ask(known, review)).toBe("HTTP/1.1 200");
  });

  it("delays no review with many large unfinished requests", async () => {
    const begun = await Promise.all(Array.from({ length: 16 }, () => open()));
    for (const socket of begun) socket.write(head("/mutate", 8 << 20) + "x".repeat(60_000));
    const large = JSON.stringify({ ...JSON.parse(review), padding: "x".repeat(3 << 20) });
    expect(await ask(await apiServer(), asked(large))).toBe("HTTP/1.1 200");
  });

  it.each([
    ["that never shake hands", () => Promise.resolve(dial())],
    ["that shake hands and say nothing", () => open()],
    [
      "that send half a head",
      async () => {
        const socket = await open();
        socket.write("POST /mutate HTTP/1.1\r\nHost: ");
        return socket;
      },
    ],
  ])(
    "with many connections %s gets 20 of them, and the API server gets all that it needs",
    async (_what, connection) => {
      const before = await apiServer();
      expect(await ask(before)).toBe("HTTP/1.1 200");
      for (let batch = 0; batch < 10; batch++) {
        // A client that is rejected at once may never have been connected.
        await Promise.allSettled(Array.from({ length: 10 }, connection));
        expect(await ask(await apiServer())).toBe("HTTP/1.1 200");
      }
      expect(await ask(before)).toBe("HTTP/1.1 200");
      await eventually(() => expect(alive()).toBeLessThanOrEqual(limits.unauthenticated + 11));
      expect(reviews).toBe(12);
      expect(metrics.render()).toMatch(/^wave_http_connections_dropped_total\{server="webhook"\} \d\d/m);
    },
  );

  it("must send a request before the deadline, however slowly it sends", async () => {
    await server.close();
    const clock = new FakeClock();
    await start({ clock });
    const [silent, slow, known] = [dial(), await open(), await apiServer()];
    expect(await ask(known)).toBe("HTTP/1.1 200");
    slow.write("POST /mutate HTTP/1.1\r\nX: ");
    await clock.advance(limits.unauthenticatedMs - 1);
    slow.write("X");
    expect(await ask(known)).toBe("HTTP/1.1 200");
    expect([silent.closed, slow.closed]).toEqual([false, false]);
    await clock.advance(1);
    await eventually(() => expect([silent.closed, slow.closed]).toEqual([true, true]));
    expect(await ask(known)).toBe("HTTP/1.1 200");
  });

  it("takes no place from clients that know the path, whose idle connections make room for each other", async () => {
    const known: TLSSocket[] = [];
    for (let count = 0; count < limits.total + 5; count++) {
      known.push(await apiServer());
      expect(await ask(known.at(-1) as TLSSocket)).toBe("HTTP/1.1 200");
    }
    await eventually(() => expect(alive()).toBe(limits.total));
    expect(known.slice(0, 5).every(({ destroyed, readableEnded }) => destroyed || readableEnded)).toBe(true);
    expect(await ask(known.at(-1) as TLSSocket)).toBe("HTTP/1.1 200");
  });
});

describe("reviews", () => {
  it("of one connection run one after another, and a third pipelined request ends the connection", async () => {
    const socket = await apiServer();
    socket.resume();
    socket.write(asked().repeat(50));
    await eventually(() => expect(socket.readableEnded || socket.destroyed).toBe(true));
    expect(reviews).toBeLessThanOrEqual(2);
  });

  it("that are large are read one at a time, while small ones continue", async () => {
    await server.close();
    const go = Promise.withResolvers<void>();
    const seen: string[] = [];
    const decide: AdmissionServerOptions["review"] = async ({ uid }) => {
      seen.push(uid);
      if (uid === "first") await go.promise;
      return { patch: undefined, warnings: [] };
    };
    await start({ review: decide });
    const mebibyte = 1 << 20;
    const of = (uid: string, padding: number) =>
      asked(JSON.stringify({ ...JSON.parse(review), request: { uid }, padding: "x".repeat(padding) }));
    const [first, second, dense, small] = [await apiServer(), await apiServer(), await apiServer(), await apiServer()];
    const answers = [ask(first, of("first", mebibyte))];
    await eventually(() => expect(seen).toEqual(["first"]));
    answers.push(ask(second, of("second", mebibyte)));
    const values = JSON.stringify({ ...JSON.parse(review), request: { uid: "dense" }, values: Array(30_000).fill({}) });
    answers.push(ask(dense, asked(values)));
    expect(await ask(small, of("small", 0))).toBe("HTTP/1.1 200");
    expect(seen).toEqual(["first", "small"]);
    // A review that is given up does not block the next ones.
    second.destroy();
    go.resolve();
    expect([await answers[0], await answers[2]]).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
    expect(seen.at(-1)).toBe("dense");
  });

  it("are accepted only from clients with a certificate, if one is required", async () => {
    await server.close();
    const clients = createAuthority("clients", validity);
    // An authority may present its own certificate as a client certificate.
    const client = { cert: clients.certificate.pem, key: clients.key };
    const others = createAuthority("others", validity);
    const stranger = { cert: others.certificate.pem, key: others.key };
    await start({ served: { ...served, clientAuthorities: clients.certificate.pem } });
    const outcome = async (options: ConnectionOptions) => {
      const socket = await open("127.0.0.2", options).catch(() => undefined);
      if (socket === undefined) return "refused";
      socket.write(asked());
      return Promise.race([
        once(socket, "data").then(([answer]) => String(answer).slice(0, 12)),
        once(socket, "close").then(() => "refused"),
      ]).catch(() => "refused");
    };
    expect(await outcome({})).toBe("refused");
    expect(await outcome(stranger)).toBe("refused");
    expect(await outcome(client)).toBe("HTTP/1.1 200");
    expect(reviews).toBe(1);
    server.serve({ ...served, clientAuthorities: authority.certificate.pem });
    expect(await outcome(client)).toBe("refused");
  });
});
