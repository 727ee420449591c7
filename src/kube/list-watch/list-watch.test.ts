import { describe, expect, it } from "vitest";
import { clientOf } from "../../../test/support/kube/client.ts";
import {
  added,
  bookmark,
  breaks,
  endOfList,
  ends,
  event,
  failure,
  follow,
  followWith,
  goesOn,
  last,
  listing,
  page,
  refuses,
  secret,
  watching,
} from "../../../test/support/kube/scripted-watch.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { resources } from "../api/resources.ts";
import { listWatch } from "./list-watch.ts";

describe("a list-watch", () => {
  it("yields the existing objects, the end of the list, and then each change", async () => {
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

  it("lists again if requested when the server ends a watch", async () => {
    const wanted = [true, false];
    const { asked, told } = await followWith(
      { shouldRelist: () => wanted.shift() ?? false },
      ends(added("x", "1"), endOfList("5")),
      ends(added("x", "1"), endOfList("7")),
      goesOn(added(last, "8")),
    );
    expect(told).toEqual(["init", "initApply x", "initDone", "init", "initApply x", "initDone", `apply ${last}`]);
    expect(asked).toMatchObject([listing, listing, watching("7")]);
  });

  it("reads one object on an interval while its list and watch are forbidden, as with a Role for a Namespace", async () => {
    const forbidden = refuses(403, "Forbidden");
    const { asked, told, logged } = await followWith(
      { resource: resources.namespaces, fieldSelector: "metadata.name=shop" },
      ...[forbidden, ends(JSON.stringify(secret("shop", "1")))],
      ...[forbidden, refuses(404, "NotFound")],
      ...[forbidden, forbidden],
      goesOn(added("shop", "3"), endOfList("3"), added(last, "4")),
    );
    // A failed watch begins with "init", too.
    expect(told).toEqual([
      ...["init", "init", "initApply shop", "initDone"],
      ...["init", "init", "initDone"],
      ...["init", "initFailed"],
      ...["init", "initApply shop", "initDone", `apply ${last}`],
    ]);
    expect(asked.map(({ watch = "get" }) => watch)).toEqual(["true", "get", "true", "get", "true", "get", "true"]);
    expect(logged.filter((line) => !line.includes("works again"))).toEqual([
      'info no permission to watch an object, reading it every 10 s {"watch":"namespaces","next":"Grant list and watch on namespaces with a ClusterRole (resourceNames: shop)"}',
      expect.stringMatching(
        /^error cannot watch a resource: forbidden .*"next":"Grant get on namespaces in namespace shop with a Role \(resourceNames: shop\), or list and watch with a ClusterRole \(resourceNames: shop\)"/,
      ),
    ]);
  });

  it("yields one empty list while the API lacks an optional resource, and the objects when it has the resource", async () => {
    const { told, logged } = await followWith(
      { mayBeAbsent: true },
      refuses(404, "NotFound"),
      refuses(404, "NotFound"),
      breaks(added("x", "1"), endOfList("5")),
      refuses(404, "NotFound"),
      goesOn(added("x", "7"), endOfList("8"), added(last, "9")),
    );
    // An incomplete list yields nothing.
    const lists = told
      .join(" ")
      .split("initDone")
      .map((each) => each.replace(/^.*init /, "").trim());
    expect(lists).toEqual(["", "initApply x", "", "initApply x", `apply ${last}`]);
    expect(logged.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
  });

  it("waits for a resource that the API must have", async () => {
    const { told } = await follow(refuses(404, "NotFound"), goesOn(added(last, "1")));
    expect(told).toEqual(["init", "initFailed", "init", `initApply ${last}`]);
  });

  it("restarts a list that broke before its end, regardless of its objects", async () => {
    const { asked, told, logged } = await follow(
      breaks(added("x", "1")),
      ends(added("x", "1")),
      goesOn(endOfList("5"), added(last, "6")),
    );
    const begun = ["init", "initApply x", "initFailed"];
    expect(told).toEqual([...begun, ...begun, "init", "initDone", `apply ${last}`]);
    expect(asked).toMatchObject([listing, listing, listing]);
    expect(logged.join()).toContain("the list of secrets ended before it was complete");
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

  it("retries while it is forbidden, and logs once which permission is missing", async () => {
    const { told, logged } = await follow(
      refuses(403, "Forbidden"),
      refuses(403, "Forbidden"),
      goesOn(endOfList("5"), added(last, "6")),
    );
    expect(told.slice(-2)).toEqual(["initDone", `apply ${last}`]);
    expect(logged).toHaveLength(2);
    expect(logged[0]).toMatch(
      /^error cannot watch a resource: forbidden .*"next":"Grant list and watch on secrets in all namespaces with a ClusterRole"/,
    );
    expect(logged[1]).toMatch(/^info a watch works again/);
  });

  it("ends only by its signal, without an error, and releases its stream", async () => {
    const closed = new Promise<void>((resolve) => {
      void follow((response) => {
        response.once("close", resolve);
        response.write(endOfList("5") + added(last, "6"));
      });
    });
    await closed;
  });

  it("sends no request if its signal was aborted before", async () => {
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
    const pageOfSecrets = { limit: "20" };
    const pages = [pageOfSecrets, { limit: "500", continue: "more" }];
    expect(asked).toMatchObject([listing, ...pages, watching("5"), watching("6"), pageOfSecrets, watching("9")]);
    expect(asked[5]).not.toHaveProperty("continue");
  });

  it("restarts the pages if the server no longer has their version", async () => {
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

  it("skips items of a page that are not objects, and treats a list without items as empty", async () => {
    const { told, logged } = await follow(
      refuses(422, "Invalid"),
      page([null, {}, secret("x", "1")], { resourceVersion: "5", continue: "more" }),
      ends(JSON.stringify({ metadata: { resourceVersion: "5" }, items: null })),
      goesOn(added(last, "6")),
    );
    expect(told).toEqual(["init", "init", "initApply x", "initDone", `apply ${last}`]);
    expect(logged).toEqual(Array(2).fill('warn skipped a list item that is not an object {"list":"secrets"}'));
  });
});
