import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Clock, systemClock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/log.ts";
import type { KubeObject } from "./api-types.ts";
import { listWatch, type ReflectorEvent } from "./list-watch.ts";
import { resources } from "./resources.ts";
import { clientOf } from "./test-client.ts";
import { serveHttp } from "./test-server.ts";

const secret = (name: string, resourceVersion: string) => ({ metadata: { name, namespace: "a", resourceVersion } });
const event = (type: string, object: object | null) => `${JSON.stringify({ type, object })}\n`;
const added = (name: string, resourceVersion: string) => event("ADDED", secret(name, resourceVersion));
const bookmark = (resourceVersion: string) => event("BOOKMARK", { metadata: { resourceVersion } });
const endOfList = (resourceVersion: string) =>
  event("BOOKMARK", { metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } } });
const failure = (code: number, reason: string) => ({ kind: "Status", status: "Failure", code, reason, message: "no" });

type Answer = (response: ServerResponse) => void;
/** A stream that the server ends. */
const ends =
  (...lines: string[]): Answer =>
  (response) =>
    void response.end(lines.join(""));
/** A stream whose connection breaks. */
const breaks =
  (...lines: string[]): Answer =>
  (response) =>
    void response.write(lines.join(""), () => setImmediate(() => response.destroy()));
/** A stream that goes on. */
const goesOn =
  (...lines: string[]): Answer =>
  (response) =>
    void response.write(lines.join(""));
const refuses =
  (code: number, reason: string): Answer =>
  (response) => {
    response.writeHead(code, { "content-type": "application/json" });
    response.end(JSON.stringify(failure(code, reason)));
  };
const page = (items: readonly (object | null)[], metadata: object): Answer => ends(JSON.stringify({ metadata, items }));

/** The last object of each script: when it is told, the test has seen everything. */
const last = "last";
/** Waits a hundredth of what it is asked to. */
const hurriedClock: Clock = { ...systemClock, timer: (ms, callback) => systemClock.timer(ms / 100, callback) };

/** What a list-watch asks a server that gives these answers one after the other, what it tells, and what it logs. */
async function follow(...answers: Answer[]) {
  const asked: Record<string, string>[] = [];
  const server = await serveHttp((request, response) => {
    asked.push(Object.fromEntries(new URL(request.url ?? "", "http://server").searchParams));
    const answer = answers.shift() ?? refuses(500, "NoMoreAnswers");
    answer(response);
  });
  const { client, metrics } = clientOf(`http://127.0.0.1:${server.port}`);
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const logged: string[] = [];
  const keep =
    (level: string): Logger["warn"] =>
    (message, fields) =>
      void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log: Logger = { debug: () => {}, info: keep("info"), warn: keep("warn"), error: keep("error") };
  const stop = new AbortController();
  const told: string[] = [];
  const events = listWatch({
    client,
    resource: resources.secrets,
    clock: hurriedClock,
    log,
    metrics,
    signal: stop.signal,
  });
  for await (const each of events) {
    told.push(textOf(each));
    if ("object" in each && each.object.metadata.name === last) stop.abort();
  }
  return { asked, told, logged };
}

function textOf(each: ReflectorEvent<KubeObject>): string {
  return "object" in each ? `${each.type} ${each.object.metadata.name}` : each.type;
}

const watching = (resourceVersion: string) => ({ watch: "true", allowWatchBookmarks: "true", resourceVersion });
const listing = { watch: "true", sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };

describe("a list-watch", () => {
  it("tells what exists, that this was all, and then each change", async () => {
    const { asked, told } = await follow(
      goesOn(
        added("x", "1"),
        endOfList("5"),
        added("y", "6"),
        event("MODIFIED", secret("x", "7")),
        event("DELETED", secret("y", "8")),
        added(last, "9"),
      ),
    );
    expect(told).toEqual(["init", "initApply x", "initDone", "apply y", "apply x", "delete y", `apply ${last}`]);
    expect(asked).toMatchObject([listing]);
    expect(Number(asked[0]?.timeoutSeconds)).toBeGreaterThanOrEqual(300);
    expect(Number(asked[0]?.timeoutSeconds)).toBeLessThanOrEqual(600);
  });

  it("resumes a broken stream from the last event or bookmark, and does not list again", async () => {
    const { asked, told } = await follow(
      breaks(added("x", "1"), endOfList("5"), added("y", "6")),
      breaks(bookmark("30")),
      goesOn(added(last, "31")),
    );
    expect(told).toEqual(["init", "initApply x", "initDone", "apply y", `apply ${last}`]);
    expect(asked).toMatchObject([listing, watching("6"), watching("30")]);
    expect(asked[1]).not.toHaveProperty("sendInitialEvents");
  });

  it("begins a list anew that broke before its end, whatever the objects in it", async () => {
    const { asked, told } = await follow(
      breaks(added("x", "1")),
      ends(added("x", "1")),
      goesOn(endOfList("5"), added(last, "6")),
    );
    expect(told).toEqual(["init", "initApply x", "init", "initApply x", "init", "initDone", `apply ${last}`]);
    expect(asked).toMatchObject([listing, listing, listing]);
  });

  it.each([
    ["as a status", refuses(410, "Expired")],
    ["in the stream", goesOn(event("ERROR", failure(410, "Expired")))],
    ["by its reason alone", goesOn(event("ERROR", { kind: "Status", reason: "Expired" }))],
  ])("lists again when the server says %s that it has forgotten where the watch was", async (_, forgotten) => {
    const { asked, told, logged } = await follow(
      ends(endOfList("5")),
      forgotten,
      goesOn(added("y", "8"), endOfList("9"), added(last, "10")),
    );
    expect(told).toEqual(["init", "initDone", "init", "initApply y", "initDone", `apply ${last}`]);
    expect(asked).toMatchObject([listing, watching("5"), listing]);
    expect(logged).toEqual([]);
  });

  it("resumes after any other failure in the stream", async () => {
    const { asked, told, logged } = await follow(
      goesOn(endOfList("5"), added("y", "6"), event("ERROR", failure(500, "InternalError"))),
      goesOn(added(last, "7")),
    );
    expect(told).toEqual(["init", "initDone", "apply y", `apply ${last}`]);
    expect(asked).toMatchObject([listing, watching("6")]);
    expect(logged[0]).toContain("watch secrets: 500 InternalError: no");
  });

  it("goes on while it is refused, and says once what must be allowed", async () => {
    const { told, logged } = await follow(
      refuses(403, "Forbidden"),
      refuses(403, "Forbidden"),
      goesOn(endOfList("5"), added(last, "6")),
    );
    expect(told.slice(-2)).toEqual(["initDone", `apply ${last}`]);
    expect(logged).toHaveLength(2);
    expect(logged[0]).toMatch(
      /^error cannot watch secrets: allow this user "list" and "watch" on secrets in all namespaces /,
    );
    expect(logged[1]).toMatch(/^info watching secrets again/);
  });

  it("ends by its signal alone, quietly, and lets go of its stream", async () => {
    const closed = new Promise<void>((resolve) => {
      void follow((response) => {
        response.once("close", resolve);
        response.write(endOfList("5") + added(last, "6"));
      });
    });
    await closed;
  });

  it("asks nothing where its signal was aborted before", async () => {
    const { client, metrics } = clientOf("http://127.0.0.1:9");
    const signal = AbortSignal.abort();
    const clock = systemClock;
    const log: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const events = listWatch({ client, resource: resources.secrets, clock, log, metrics, signal });
    expect((await events.next()).done).toBe(true);
  });
});

describe("a list-watch of a server that sends no lists as streams", () => {
  it("lists in pages and watches from there, also the next time", async () => {
    const { asked, told } = await follow(
      refuses(422, "Invalid"),
      page([secret("x", "1")], { resourceVersion: "5", continue: "more" }),
      page([secret("y", "2")], { resourceVersion: "5" }),
      ends(added("z", "6")),
      refuses(410, "Expired"),
      page([], { resourceVersion: "9" }),
      goesOn(added(last, "10")),
    );
    const first = ["init", "init", "initApply x", "initApply y", "initDone", "apply z"];
    expect(told).toEqual([...first, "init", "initDone", `apply ${last}`]);
    const pageOfSecrets = { limit: "100" };
    const pages = [pageOfSecrets, { ...pageOfSecrets, continue: "more" }];
    expect(asked).toMatchObject([listing, ...pages, watching("5"), watching("6"), pageOfSecrets, watching("9")]);
    expect(asked[5]).not.toHaveProperty("continue");
  });

  it("begins the pages anew where the server gives up their moment in between", async () => {
    const { asked, told } = await follow(
      refuses(400, "BadRequest"),
      page([secret("x", "1")], { resourceVersion: "5", continue: "old" }),
      refuses(410, "Expired"),
      page([secret("y", "7")], { resourceVersion: "8" }),
      goesOn(added(last, "9")),
    );
    expect(told).toEqual(["init", "init", "initApply x", "init", "initApply y", "initDone", `apply ${last}`]);
    expect(asked[3]).not.toHaveProperty("continue");
    expect(asked[4]).toMatchObject(watching("8"));
  });

  it("skips what is no object in a page, and takes a list without items as empty", async () => {
    const { told, logged } = await follow(
      refuses(422, "Invalid"),
      page([null, {}, secret("x", "1")], { resourceVersion: "5", continue: "more" }),
      ends(JSON.stringify({ metadata: { resourceVersion: "5" }, items: null })),
      goesOn(added(last, "6")),
    );
    expect(told).toEqual(["init", "init", "initApply x", "initDone", `apply ${last}`]);
    expect(logged).toEqual(Array(2).fill("warn an item in the list of secrets is no object and is skipped undefined"));
  });
});

describe("a line of a watch that is no event", () => {
  const broken = [
    '{"type":"ADDED","object":{"metadata":{"name":"db","namespace":"a"},"data":{"password":"aHVudGVyMg=="}\n',
    "hunter2\n",
    '"hunter2"\n',
    "null\n",
    "\n",
    event("ADDED", null),
    event("ADDED", { data: { password: "aHVudGVyMg==" } }),
    event("ADDED", { metadata: null }),
    event("ERROR", null),
    '{"object":{"data":{"password":"hunter2"}}}\n',
  ];

  it("is skipped: what comes after it is told, and nothing is asked again", async () => {
    const { asked, told } = await follow(goesOn(...broken, endOfList("5"), ...broken, added(last, "6")));
    expect(told).toEqual(["init", "initDone", `apply ${last}`]);
    expect(asked).toHaveLength(1);
  });

  it("is logged by its length and its object's name, and never by what it holds", async () => {
    const { logged } = await follow(goesOn(...broken, endOfList("5"), added(last, "6")));
    expect(logged).toHaveLength(broken.length);
    expect(logged[0]).toBe(
      `warn a line of the watch of secrets is no event and is skipped {"bytes":101,"namespace":"a","name":"db"}`,
    );
    expect(logged.join()).not.toMatch(/aHVudGVyMg|hunter2|password/);
  });

  it("keeps no watch from resuming where it was", async () => {
    const nameless = event("MODIFIED", { metadata: { name: "y" } });
    const { asked } = await follow(breaks(endOfList("5"), added("x", "6"), nameless, "{"), goesOn(added(last, "7")));
    expect(asked).toMatchObject([listing, watching("6")]);
  });
});

describe("events that come in pieces", () => {
  it("are told whole, also where a character is cut", async () => {
    const bytes = Buffer.from(endOfList("5") + added("größe€", "6") + added(last, "7"));
    const { told } = await follow(async (response) => {
      for (const byte of bytes) if (!response.write(Buffer.of(byte))) await once(response, "drain");
    });
    expect(told).toEqual(["init", "initDone", "apply größe€", `apply ${last}`]);
  });
});
