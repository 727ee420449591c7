import { createServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { clientOf } from "../../../test/support/kube/client.ts";
import { startHttpProxy, startSocksProxy } from "../../../test/support/kube/proxies.ts";
import {
  type Listening,
  listen,
  makeCertificates,
  serveHttp,
  serveHttp2,
  type TestCertificates,
} from "../../../test/support/kube/server.ts";

let certificates: TestCertificates;
beforeAll(() => {
  certificates = makeCertificates();
});

async function ending<S extends Listening<unknown & import("node:net").Server>>(started: Promise<S>): Promise<S> {
  const listening = await started;
  onTestFinished(listening.close);
  return listening;
}

const servers = {
  "HTTP/2": async () => {
    const server = await serveHttp2(certificates.server);
    server.server.on("request", (_, response) => response.end('{"via":"HTTP/2"}'));
    return server;
  },
  "HTTP/1.1": () => listen(createServer(certificates.server, (_, response) => response.end('{"via":"HTTP/1.1"}'))),
};

const proxies = { http: startHttpProxy, socks5: startSocksProxy } as const;
const cases = (["http", "socks5"] as const).flatMap((scheme) =>
  (["HTTP/2", "HTTP/1.1"] as const).map((version) => [scheme, version] as const),
);

/** Gets the version of the server at a name that only the proxy can resolve. */
async function get(server: string, proxy: string) {
  const { client } = clientOf(server, { tls: { ca: certificates.ca, serverName: "wave.test" }, proxy: new URL(proxy) });
  onTestFinished(() => client.close());
  return client.request({ method: "GET", path: "/version" });
}

describe.each(cases)("a proxy with %s to a server with %s", (scheme, version) => {
  it("forwards requests to the name of the server, which the proxy resolves", async () => {
    const server = await servers[version]();
    onTestFinished(server.close);
    const proxy = await ending(proxies[scheme](server.port));
    expect(await get("https://api.invalid:6443", `${scheme}://127.0.0.1:${proxy.port}`)).toEqual({ via: version });
    expect(proxy.requested[0]).toBe("api.invalid:6443");
  });

  it("gets the login of its URL, decoded", async () => {
    const server = await servers[version]();
    onTestFinished(server.close);
    const proxy = await ending(proxies[scheme](server.port, "me@example:p:w"));
    const url = `${scheme}://me%40example:p%3Aw@127.0.0.1:${proxy.port}`;
    expect(await get("https://[2001:db8::1]:6443", url)).toEqual({ via: version });
    const host = scheme === "http" ? "[2001:db8::1]" : "[2001:0db8:0000:0000:0000:0000:0000:0001]";
    expect(proxy.requested[0]).toBe(`me@example:p:w@${host}:6443`);
  });
});

it("forwards to a server without TLS", async () => {
  const server = await serveHttp((_, response) => response.end('{"via":"http"}'));
  onTestFinished(server.close);
  const proxy = await ending(startHttpProxy(server.port));
  expect(await get("http://10.1.2.3:8080", `http://127.0.0.1:${proxy.port}`)).toEqual({ via: "http" });
  expect(proxy.requested).toEqual(["10.1.2.3:8080"]);
});

describe("the error of a proxy names it without its login:", () => {
  it.each([
    ["http", startHttpProxy, "it responded with 407"],
    ["socks5", startSocksProxy, "it rejected user name and password"],
  ] as const)("%s", async (scheme, start, reason) => {
    const proxy = await ending(start(1, "me:right"));
    const error = await get("https://api.invalid", `${scheme}://me:wrong@127.0.0.1:${proxy.port}`).catch(String);
    expect(error).toContain(`proxy ${scheme}://127.0.0.1:${proxy.port}: ${reason}`);
    expect(error).not.toMatch(/wrong|right/);
  });

  it.each([
    ["http", "hello there, this is no proxy\r\n\r\n", "it is not an HTTP proxy"],
    ["http", `HTTP/1.1 200 OK\r\n${"a".repeat(20_000)}`, "its response is too long"],
    ["http", "", "it closed the connection"],
    ["socks5", "HTTP/1.1 400 Bad Request\r\n\r\n", "it is not a SOCKS5 proxy"],
    ["socks5", "\x05\xff", "it requires another way to log in"],
    ["socks5", "\x05\x00\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00", "the connection was refused"],
    ["socks5", "\x05\x00\x05", "it closed the connection"],
  ])("%s, which answers %j", async (scheme, answer, reason) => {
    const server = createTcpServer((socket) => socket.once("data", () => socket.end(Buffer.from(answer, "latin1"))));
    const { port } = await ending(listen(server));
    await expect(get("https://api.invalid", `${scheme}://127.0.0.1:${port}`)).rejects.toThrow(
      `proxy ${scheme}://127.0.0.1:${port}: ${reason}`,
    );
  });

  it("that nobody serves", async () => {
    await expect(get("https://api.invalid", "socks5://127.0.0.1:1")).rejects.toThrow(/proxy socks5:\/\/127.0.0.1:1: /);
  });
});
