import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { clientOf, seriesOf } from "../../../test/support/kube/client.ts";
import { serveHttp } from "../../../test/support/kube/server.ts";
import {
  ApiError,
  apiFailureOf,
  ConnectionError,
  isForbidden,
  isNotFound,
  isUnauthorized,
} from "../api/api-failure.ts";
import { resourcePath, resources } from "../api/resources.ts";
import { type Credential, type Credentials, fixedCredentials } from "../config/credentials.ts";
import type { ApiClient } from "./client.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A client of a server that answers every request so. */
async function clientOfServer(
  answer: Answer,
  options: Parameters<typeof clientOf>[1] & { readonly root?: string } = {},
) {
  const server = await serveHttp(answer);
  const made = clientOf(`http://127.0.0.1:${server.port}${options.root ?? ""}`, options);
  onTestFinished(async () => {
    await made.client.close();
    await server.close();
  });
  return { ...made, server };
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** The shortest object that an API server may send. */
const named = { metadata: { name: "web" } };

const web = { method: "GET", path: resourcePath(resources.secrets, { namespace: "default", name: "web" }) } as const;

/** The error that a request ends with. */
async function failureOf(client: ApiClient, request: Parameters<ApiClient["request"]>[0] = web): Promise<unknown> {
  return client.request(request).then(
    () => expect.unreachable("the request succeeded"),
    (error: unknown) => error,
  );
}

describe("a request to the API server", () => {
  it("carries path, query, credentials, user agent and a body of the right type", async () => {
    const seen: unknown[] = [];
    const { client } = await clientOfServer(
      async (request, response) => {
        const { authorization, accept, "user-agent": agent, "content-type": type } = request.headers;
        seen.push([request.method, request.url, authorization, accept, agent, type, await text(request)]);
        json(response, 200, named);
      },
      { credentials: fixedCredentials({ authorization: "Bearer t" }) },
    );
    const path = resourcePath(resources.deployments, { namespace: "a", name: "b" });
    const common = ["Bearer t", "application/json", "wave/test"];
    await client.request({
      method: "GET",
      path,
      query: { watch: true, limit: 5, fieldSelector: "type!=a/b", x: undefined },
    });
    await client.request({ method: "PATCH", path, body: [{ op: "test" }] });
    await client.request({ method: "PATCH", path, body: { a: "ü" } });
    await client.request({ method: "PATCH", path, body: {}, contentType: "application/apply-patch+yaml" });
    expect(await client.request({ method: "POST", path, body: 1 })).toEqual(named);
    expect(seen).toEqual([
      ["GET", `${path}?watch=true&limit=5&fieldSelector=type!%3Da%2Fb`, ...common, undefined, ""],
      ["PATCH", path, ...common, "application/json-patch+json", '[{"op":"test"}]'],
      ["PATCH", path, ...common, "application/merge-patch+json", '{"a":"ü"}'],
      ["PATCH", path, ...common, "application/apply-patch+yaml", "{}"],
      ["POST", path, ...common, "application/json", "1"],
    ]);
  });

  it("uses the base path of the server", async () => {
    const { client } = await clientOfServer(
      (request, response) => json(response, 200, { metadata: {}, items: [], asked: request.url }),
      {
        root: "/k8s/clusters/a/",
      },
    );
    expect(await client.request({ method: "GET", path: "/api/v1/pods" })).toMatchObject({
      asked: "/k8s/clusters/a/api/v1/pods",
    });
  });

  it("is counted by verb and status", async () => {
    const { client, metrics } = await clientOfServer((request, response) =>
      json(response, request.method === "GET" ? 200 : 409, { ...named, items: null }),
    );
    await client.request(web);
    await client.request({ method: "GET", path: resourcePath(resources.secrets) });
    await failureOf(client, { ...web, method: "PUT" });
    await client.close();
    await failureOf(client);
    expect(seriesOf(metrics, "wave_api_requests_total").sort()).toEqual([
      '{verb="get",code="200"} 1',
      '{verb="get",code="error"} 1',
      '{verb="list",code="200"} 1',
      '{verb="update",code="409"} 1',
    ]);
  });
});

describe("an error response of the API server", () => {
  it("has the request, the status, the reason and the message of the server", async () => {
    const { client } = await clientOfServer((_, response) =>
      json(response, 403, { kind: "Status", reason: "Forbidden", message: "no, not you", details: { name: "web" } }),
    );
    const failure = await failureOf(client);
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({
      message: "get secrets/web in default: 403 Forbidden: no, not you",
      status: 403,
      reason: "Forbidden",
      details: { name: "web" },
      retryAfterMs: undefined,
    });
  });

  it.each([
    { header: "7", ms: 7_000 },
    { header: "Thu, 01 Jan 2026 00:01:30 GMT", ms: 90_000 },
    { header: "Thu, 01 Jan 2020 00:00:00 GMT", ms: 0 },
    { header: "soon", ms: undefined },
  ])("passes on the Retry-After $header", async ({ header, ms }) => {
    const { client } = await clientOfServer((_, response) => json(response, 429, {}, { "retry-after": header }), {
      clock: new FakeClock(),
    });
    expect(await failureOf(client)).toMatchObject({ status: 429, retryAfterMs: ms });
  });

  it("passes on the seconds of its Status if there is no header", async () => {
    const { client } = await clientOfServer((_, response) =>
      json(response, 429, { kind: "Status", details: { retryAfterSeconds: 3 } }),
    );
    expect(await failureOf(client)).toMatchObject({ retryAfterMs: 3_000 });
  });

  it("has the text of an API server that does not serve the path, which has an audit ID", async () => {
    const { client } = await clientOfServer((_, response) => {
      const headers = { "content-type": "text/plain; charset=utf-8", "audit-id": "1" };
      response.writeHead(404, headers).end("404 page not found\n");
    });
    const failure = await failureOf(client);
    expect(failure).toMatchObject({ message: "get secrets/web in default: 404 NotFound: 404 page not found" });
    expect(apiFailureOf(failure)?.type).toBe("notFound");
  });
});

describe("a response that no API server sends", () => {
  const bodies: readonly [status: number, type: string, body: string, said: string][] = [
    [200, "text/html; charset=utf-8", "<html><h1>Log in</h1>", "content type text/html"],
    [302, "", "", "content type missing"],
    [403, "text/html", "<html>", "content type text/html"],
    [404, "text/plain", "404 page not found\n", 'content type text/plain, "404 page not found"'],
    [502, "text/plain", "upstream is gone\nmore", 'content type text/plain, "upstream is gone"'],
    [502, "application/json", "null", "content type application/json"],
    [404, "application/json", '{"reason":null,"message":null}', "content type application/json"],
    [200, "application/json", "", "content type application/json, not JSON"],
    [200, "application/json", '{"data": hunter2}', "content type application/json, not JSON"],
    [200, "application/json", "null", "content type application/json, not an object"],
    [200, "application/json", '["hunter2"]', "content type application/json, not an object"],
    [200, "application/json", '{"kind":"Status","metadata":{}}', "content type application/json, not an object"],
    [200, "application/json", '{"data":{"a":"hunter2"}}', "content type application/json, not an object"],
  ];

  it.each(bodies)("%i %s %o is one error with the content type and no value", async (status, type, body, said) => {
    const { client } = await clientOfServer((_, response) => {
      response.writeHead(status, type === "" ? {} : { "content-type": type }).end(body);
    });
    const failure = await failureOf(client);
    const message = `get secrets/web in default: ${status}: the response is not from a Kubernetes API server (${said}). Check the server address, the proxy, and whether a gateway requires a login`;
    expect(failure).toMatchObject({ name: "ApiError", status, message });
    expect(apiFailureOf(failure)?.type).toBe("unavailable");
    expect([isUnauthorized, isForbidden, isNotFound].some((is) => is(failure))).toBe(false);
    for (let error = failure; error instanceof Error; error = error.cause) expect(error.stack).not.toContain("hunter2");
  });

  it("is an error for a list without items, and for a stream that is no JSON", async () => {
    const { client } = await clientOfServer((request, response) => {
      if (request.url?.includes("watch")) response.writeHead(200, { "content-type": "text/html" }).end("<html>");
      else json(response, 200, { metadata: { resourceVersion: "1" } });
    });
    const list = { method: "GET", path: resourcePath(resources.secrets) } as const;
    expect(await failureOf(client, list)).toMatchObject({ message: expect.stringContaining("not a list") });
    const stream = client.stream({ ...list, query: { watch: true } });
    await expect(stream).rejects.toThrow("content type text/html");
  });
});

describe("an incomplete response", () => {
  it("is a ConnectionError if the connection breaks during the response, also before its first byte", async () => {
    for (const part of ["", '{"data":']) {
      const { client } = await clientOfServer((_, response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.flushHeaders();
        response.write(part, () => response.destroy());
      });
      expect(await failureOf(client)).toBeInstanceOf(ConnectionError);
    }
  });
});

describe("a long response", () => {
  const large = { data: "x".repeat(300_000) };

  it("to a GET is read after earlier long ones, so that many need the memory of one; a short one is read meanwhile", async () => {
    const asked = new Map<string, number>();
    const held: (() => void)[] = [];
    const { client } = await clientOfServer((request, response) => {
      const { url = "" } = request;
      if (url === "/short") return json(response, 200, "short");
      const times = (asked.get(url) ?? 0) + 1;
      asked.set(url, times);
      if (times === 1) json(response, 200, large);
      else held.push(() => json(response, 200, { ...large, url }));
    });
    const paths = ["/a", "/b", "/c", "/d"];
    const answers = Promise.all(paths.map((path) => client.request({ method: "GET", path })));
    for (const [index] of paths.entries()) {
      await expect.poll(() => held.length).toBe(1);
      await expect.poll(() => asked.size).toBeGreaterThanOrEqual(paths.length);
      expect([...asked.values()].filter((times) => times === 2)).toHaveLength(index + 1);
      expect(await client.request({ method: "GET", path: "/short" })).toBe("short");
      held.shift()?.();
    }
    expect(await answers).toEqual(paths.map((url) => ({ ...large, url })));
  });

  it("to a GET is parsed after the garbage of each 4 MiB of earlier ones was collected; a short one is parsed at once", async () => {
    let collections = 0;
    const answer = { data: "x".repeat(1_500_000) };
    const { client } = await clientOfServer(
      (request, response) => json(response, 200, request.url === "/short" ? "short" : answer),
      { collect: () => collections++ },
    );
    for (let count = 0; count < 100; count++) await client.request({ method: "GET", path: "/short" });
    expect(collections).toBe(0);
    for (let count = 0; count < 10; count++) await client.request({ method: "GET", path: "/long" });
    expect(collections).toBe(4);
  });

  it("to a write is read at once, so that nothing is written twice", async () => {
    let asked = 0;
    const { client } = await clientOfServer((_, response) => {
      asked++;
      json(response, 200, large);
    });
    expect(await client.request({ method: "PATCH", path: "/a", body: [] })).toEqual(large);
    expect(asked).toBe(1);
  });
});

describe("a request that takes too long", () => {
  it("ends as soon as a response is longer than any object, and never accepts compressed responses, which could be longer", async () => {
    const chunk = Buffer.alloc(1024 * 1024, " ");
    let encoding: unknown;
    let sent = 0;
    const { client } = await clientOfServer((request, response) => {
      encoding = request.headers["accept-encoding"];
      const more = () => {
        while (!response.destroyed && sent < 1_000 && response.write(chunk)) sent += 1;
      };
      response.on("drain", more);
      more();
    });
    const failure = await failureOf(client);
    expect(failure).toBeInstanceOf(ConnectionError);
    expect(String(failure)).toContain("the response exceeds 12 MiB");
    expect(encoding).toBeUndefined();
    expect(sent).toBeLessThan(100);
  });

  it("ends at its deadline, without a response or in the middle of one", async () => {
    for (const begun of [false, true]) {
      const clock = new FakeClock();
      const { client } = await clientOfServer((_, response) => void (begun && response.write("{")), { clock });
      const failure = failureOf(client, { ...web, timeoutMs: 5_000 });
      await expect.poll(() => clock.advance(1_000).then(() => clock.monotonic())).toBeGreaterThan(5_000);
      expect(await failure).toBeInstanceOf(ConnectionError);
      expect(await failure).toMatchObject({ message: "get secrets/web in default: no response within 5 s" });
    }
  });

  it("ends with the caller's reason as soon as the caller aborts", async () => {
    const stop = new AbortController();
    const { client } = await clientOfServer(() => stop.abort(reason));
    const reason = new Error("the manager stops");
    expect(await failureOf(client, { ...web, signal: stop.signal })).toBe(reason);
    expect(await failureOf(client, { ...web, signal: stop.signal })).toBe(reason);
  });

  it("ends when the client is closed", async () => {
    const { client } = await clientOfServer(() => void client.close());
    expect(await failureOf(client)).toBeInstanceOf(ConnectionError);
    expect(await failureOf(client)).toMatchObject({ message: "get secrets/web in default: the client is closed" });
  });

  it("is not sent if it may no longer be sent when credentials are available, also after a 401 with other credentials", async () => {
    for (const allowed of [0, 1]) {
      const [seen, given]: [string[], number[]] = [[], []];
      const caller = new AbortController();
      const reason = new Error("the term is over");
      const renew = async () => ({ headers: { authorization: "new" } });
      const credentials: Credentials = { current: async () => ({ headers: { authorization: "old" } }), renew };
      const { client } = await clientOfServer(
        (request, response) => {
          seen.push(request.headers.authorization ?? "");
          json(response, 401, {});
        },
        { credentials },
      );
      // Like leadership, which ends at a check after its time has passed.
      const mayBeSent = () => {
        if (given.push(seen.length) > allowed) caller.abort(reason);
        return !caller.signal.aborted;
      };
      expect(await failureOf(client, { ...web, signal: caller.signal, mayBeSent })).toBe(reason);
      expect(seen).toEqual(["old"].slice(0, allowed));
    }
  });

  it("does not wait longer for credentials", async () => {
    const clock = new FakeClock();
    const never: Credentials = { current: () => new Promise(() => {}), renew: async () => undefined };
    const { client } = await clientOfServer((_, response) => json(response, 200, {}), { clock, credentials: never });
    const failure = failureOf(client, { ...web, timeoutMs: 5_000 });
    await clock.advance(5_000);
    expect(await failure).toMatchObject({ message: "get secrets/web in default: no response within 5 s" });
  });
});

describe("rejected credentials", () => {
  /** Credentials "t0", then "t1" and so on up to the last. */
  function tokens(last: number): Credentials {
    const made: Credential[] = [];
    const make = () => made[made.push({ headers: { authorization: `t${made.length}` } }) - 1] as Credential;
    const first = make();
    return { current: async () => made.at(-1) ?? first, renew: async () => (made.length > last ? undefined : make()) };
  }

  it("are renewed and the request is sent once more", async () => {
    const seen: unknown[] = [];
    const { client } = await clientOfServer(
      async (request, response) => {
        seen.push([request.headers.authorization, await text(request)]);
        json(response, request.headers.authorization === "t1" ? 200 : 401, named);
      },
      { credentials: tokens(9) },
    );
    await client.request({ ...web, method: "PATCH", body: { a: 1 } });
    await client.request(web);
    expect(seen).toEqual([
      ["t0", '{"a":1}'],
      ["t1", '{"a":1}'],
      ["t1", ""],
    ]);
  });

  it("are renewed only once: a second 401 is returned", async () => {
    let asked = 0;
    const { client } = await clientOfServer(
      (_, response) => {
        asked += 1;
        json(response, 401, { kind: "Status", reason: "Unauthorized" });
      },
      { credentials: tokens(9) },
    );
    expect(await failureOf(client)).toMatchObject({ name: "ApiError", status: 401 });
    expect(asked).toBe(2);
  });

  it("that cannot be renewed are not sent again", async () => {
    let asked = 0;
    const { client } = await clientOfServer(
      (_, response) => {
        asked += 1;
        json(response, 401, { kind: "Status", message: "who are you?" });
      },
      { credentials: tokens(0) },
    );
    expect(await failureOf(client)).toMatchObject({ message: "get secrets/web in default: 401: who are you?" });
    expect(asked).toBe(1);
  });
});

describe("a stream", () => {
  it("returns the bytes as they arrive, and stays open beyond the deadline", async () => {
    const clock = new FakeClock();
    let answer: ServerResponse | undefined;
    const { client } = await clientOfServer(
      (_, response) => {
        answer = response;
        response.write("a");
      },
      { clock },
    );
    const stream = await client.stream({ ...web, timeoutMs: 1_000 });
    const chunks = stream[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe("a");
    await clock.advance(60_000);
    answer?.end("b");
    expect(String((await chunks.next()).value)).toBe("b");
    expect((await chunks.next()).done).toBe(true);
  });

  it("throws a ConnectionError when the connection breaks in the middle", async () => {
    const { client } = await clientOfServer((_, response) => response.write("a", () => response.destroy()));
    const stream = await client.stream(web);
    await expect(text(stream)).rejects.toBeInstanceOf(ConnectionError);
  });

  it("throws the reason of its signal", async () => {
    const stop = new AbortController();
    const { client } = await clientOfServer((_, response) => response.write("a"));
    const stream = await client.stream({ ...web, signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(text(stream)).rejects.toThrow("stopped");
  });

  it("ends its request when its reader stops", async () => {
    const gone = Promise.withResolvers<void>();
    const { client } = await clientOfServer((_, response) => response.once("close", gone.resolve).write("a"));
    for await (const _ of await client.stream(web)) break;
    await expect(gone.promise).resolves.toBeUndefined();
  });
});
