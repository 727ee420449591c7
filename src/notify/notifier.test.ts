import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { temporaryFiles } from "../../test/support/kube/files.ts";
import { makeCertificates } from "../../test/support/kube/server.ts";
import { type Received, startEndpoint } from "../../test/support/notify/endpoint.ts";
import { rolled, startNotifier } from "../../test/support/notify/notifier.ts";
import { outcomeNames, outcomes } from "./notification/notification.ts";

const everything = { name: "all", type: "webhook", outcomes: ["*"], text: "{{namespace}}/{{name}}" };

/** What people read. */
const texts = (received: readonly Received[]) => received.map(({ body }) => (body as { text: string }).text);

const warning = (reason: string) => rolled("web", { type: "Warning", reason });

describe("a receiver", () => {
  it("gets each notification once, with its headers", async () => {
    const { url, received } = await startEndpoint();
    const { tell, counts } = await startNotifier({ ...everything, url, headers: { "X-Token": "abc" } });
    tell(rolled("web"));
    await eventually(() => expect(counts()).toEqual({ sent: 1, failed: 0, dropped: 0 }));
    expect(received).toMatchObject([
      {
        path: "/secret-path",
        headers: { "x-token": "abc", "user-agent": "wave/1.2.3", "content-type": "application/json" },
        body: {
          text: "shop/web",
          outcome: "roll",
          type: "Normal",
          reason: "ConfigChanged",
          kind: "Deployment",
          namespace: "shop",
          name: "web",
          message: 'Rollout started: ConfigMap "web-page" changed (key "index.html").',
          time: "2026-01-01T00:00:00.000Z",
          unsent: [],
        },
      },
    ]);
  });

  it("gets one notification for all workloads that one change halts, and one for each other halt", async () => {
    const { url, received } = await startEndpoint();
    const { tell } = await startNotifier({ ...everything, url });
    const halted = (name: string, group: string) => rolled(name, { type: "Warning", reason: "RolloutHalted", group });
    tell(...["a", "b", "c"].map((name) => halted(name, "page 1")));
    // A minute later, the same change is halted again.
    tell(halted("d", "page 2"), rolled("last"));
    await eventually(() => expect(texts(received)).toContain("shop/last"));
    expect(texts(received).sort()).toEqual(["shop/a", "shop/d", "shop/last"]);
  });

  it("is counted by its name, also beside another receiver of its type", async () => {
    const [all, dead] = [await startEndpoint(), await startEndpoint([{ status: 404 }])];
    const { tell, counts } = await startNotifier(
      { ...everything, url: all.url },
      { ...everything, name: "dead", url: dead.url },
    );
    expect(counts("dead")).toEqual({ sent: 0, failed: 0, dropped: 0 });
    tell(rolled("web"));
    await eventually(() => expect(counts("dead")).toEqual({ sent: 0, failed: 1, dropped: 0 }));
    await eventually(() => expect(counts("all")).toEqual({ sent: 1, failed: 0, dropped: 0 }));
  });

  it("gets only its outcomes and its namespaces", async () => {
    const { url, received } = await startEndpoint();
    const { tell } = await startNotifier({ ...everything, url, outcomes: ["roll"], namespaces: ["shop", "pay"] });
    tell(rolled("web", {}, "other"), warning("RolloutHalted"), rolled("web"), rolled("api", {}, "pay"));
    tell(rolled("leader", { reason: "LeaderElection" }), rolled("last"));
    await eventually(() => expect(texts(received)).toContain("shop/last"));
    expect(texts(received).sort()).toEqual(["pay/api", "shop/last", "shop/web"]);
  });

  it.each(outcomeNames.flatMap((outcome) => outcomes[outcome].reasons.map((reason) => ({ outcome, reason }))))(
    "for outcome $outcome gets Events with reason $reason",
    async ({ outcome, reason }) => {
      const { url, received } = await startEndpoint();
      const { tell } = await startNotifier({ ...everything, url, outcomes: [outcome] });
      tell(warning(reason));
      await eventually(() => expect(received).toMatchObject([{ body: { outcome, reason } }]));
    },
  );

  it("gets a lasting problem once, and not again when its Event is renewed or a new leader starts", async () => {
    const { url, received } = await startEndpoint();
    const { notifier } = await startNotifier({ ...everything, url });
    const lasting = (name: string, repeats?: "reported" | "perhaps") =>
      rolled(name, { type: "Warning", reason: "ConfigMissing", ...(repeats && { repeats }) });
    notifier.recorded(lasting("renewed", "reported"), "again");
    notifier.recorded(lasting("renewed-after-its-end", "reported"), "first");
    notifier.recorded(lasting("recorded-by-the-previous-leader", "perhaps"), "again");
    notifier.recorded(lasting("seen-by-this-leader-first", "perhaps"), "first");
    notifier.recorded(lasting("without-an-event", "perhaps"), "failed");
    notifier.recorded(lasting("came-back"), "again");
    notifier.recorded(rolled("rolled-again"), "again");
    await eventually(() => expect(texts(received)).toContain("shop/rolled-again"));
    expect(texts(received)).toEqual([
      "shop/seen-by-this-leader-first",
      "shop/without-an-event",
      "shop/came-back",
      "shop/rolled-again",
    ]);
  });
});

describe("the rate of a receiver", () => {
  it("gets ten at once and then its rate per minute, round-robin by namespace", async () => {
    const { url, received } = await startEndpoint();
    const { tell, clock } = await startNotifier({ ...everything, url, perMinute: 6 });
    tell(
      ...Array.from({ length: 20 }, (_, index) => rolled(`loud-${index}`, {}, "loud")),
      rolled("quiet", {}, "quiet"),
    );
    await eventually(() => expect(received).toHaveLength(10));
    expect(texts(received).slice(0, 3)).toEqual(["loud/loud-0", "quiet/quiet", "loud/loud-1"]);
    await clock.advance(9_000);
    expect(received).toHaveLength(10);
    await clock.advance(1_000);
    await eventually(() => expect(received).toHaveLength(11));
  });

  it("counts what does not fit in the next message, and drops from the namespace with the most", async () => {
    const { url, received } = await startEndpoint();
    const { tell, clock, counts } = await startNotifier({ ...everything, url, perMinute: 60 });
    tell(
      ...Array.from({ length: 200 }, (_, index) => rolled(`loud-${index}`, {}, "loud")),
      rolled("quiet", {}, "quiet"),
    );
    expect(counts().dropped).toBe(101);
    await eventually(() => expect(received).toHaveLength(10));
    expect(received[0]).toMatchObject({
      body: { text: "loud/loud-101 (and 101 more in loud, not sent)", unsent: [{ namespace: "loud", count: 101 }] },
    });
    for (let sent = 10; sent < 100; sent++) {
      await clock.advance(1_000);
      await eventually(() => expect(received).toHaveLength(sent + 1));
    }
    expect(texts(received)).toContain("quiet/quiet");
    await eventually(() => expect(counts()).toEqual({ sent: 100, failed: 0, dropped: 101 }));
  });
});

describe("an endpoint that rejects notifications", () => {
  it.each([
    ["429 and a number of seconds", { status: 429, headers: { "retry-after": "7" } }, 7_000],
    ["503 and a date", { status: 503, headers: { "retry-after": "Thu, 01 Jan 2026 00:00:05 GMT" } }, 5_000],
    ["429 and a year", { status: 429, headers: { "retry-after": "31536000" } }, 300_000],
    ["500", { status: 500 }, 1_000],
    ["408", { status: 408 }, 1_000],
  ])("gets a retry at the requested time after %s", async (_, answer, ms) => {
    const { url, received } = await startEndpoint([answer]);
    const { tell, clock, counts, logged } = await startNotifier({ ...everything, url });
    tell(rolled("web"));
    await eventually(() => expect(logged).toHaveLength(1));
    await eventually(() => expect(clock.pending).toBe(1));
    await clock.advance(ms - 1);
    expect(received).toHaveLength(1);
    await clock.advance(1);
    await eventually(() => expect(counts().sent).toBe(1));
    expect(received[1]).toMatchObject({ body: received[0]?.body });
  });

  it.each([
    ["404", { status: 404 }, "HTTP 404"],
    ["400", { status: 400 }, "HTTP 400"],
    ["a redirect", { status: 307, headers: { location: "/elsewhere" } }, "HTTP 307: redirects are not followed"],
  ])("gets no retry after %s, and the next message reports the loss", async (_, answer, error) => {
    const { url, port, received } = await startEndpoint([answer]);
    const { tell, counts, logged } = await startNotifier({ ...everything, url, headers: { "X-Token": "abc" } });
    tell(rolled("lost"));
    await eventually(() => expect(counts().failed).toBe(1));
    const fields = { receiver: "all", host: `127.0.0.1:${port}`, error };
    expect(logged).toEqual([{ message: "cannot send a notification; no further attempt", fields }]);
    tell(rolled("web"));
    await eventually(() => expect(counts().sent).toBe(1));
    expect(received.map(({ path }) => path)).toEqual(["/secret-path", "/secret-path"]);
    expect(texts(received)[1]).toBe("shop/web (and 1 more in shop, not sent)");
  });

  it("keeps the count of lost notifications when the message with the count is lost too", async () => {
    const { url, received } = await startEndpoint([{ status: 400 }, { status: 400 }]);
    const { tell, counts } = await startNotifier({ ...everything, url });
    tell(rolled("a"), rolled("b", {}, "pay"), rolled("c"));
    await eventually(() => expect(counts()).toEqual({ sent: 1, failed: 2, dropped: 0 }));
    expect(texts(received)[2]).toBe("shop/c (and 1 more in shop, 1 more in pay, not sent)");
  });

  it("gets six attempts when its port is closed, and one log line with its host but not its path", async () => {
    const { port } = await startEndpoint();
    const url = `http://127.0.0.1:1/secret-path`;
    const { tell, clock, counts, logged } = await startNotifier({ ...everything, url });
    expect(port).not.toBe(1);
    tell(rolled("web"));
    for (let tries = 1; tries < 6; tries++) {
      await eventually(() => expect(clock.pending).toBe(1));
      await clock.advance(60_000);
    }
    await eventually(() => expect(counts()).toEqual({ sent: 0, failed: 1, dropped: 0 }));
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).toContain("127.0.0.1:1");
    expect(JSON.stringify(logged)).not.toContain("secret-path");
  });

  it("does not delay other receivers when it never answers, and gets the next attempt after ten seconds", async () => {
    const hanging = await startEndpoint(["never"]);
    const other = await startEndpoint();
    const { tell, clock } = await startNotifier(
      { ...everything, url: hanging.url },
      { ...everything, name: "other", url: other.url },
    );
    tell(rolled("a"), rolled("b"));
    await eventually(() => expect(hanging.received).toHaveLength(1));
    await eventually(() => expect(texts(other.received)).toEqual(["shop/a", "shop/b"]));
    expect(hanging.received).toHaveLength(1);
    await clock.advance(10_000);
    await eventually(() => expect(clock.pending).toBeGreaterThan(0));
    await clock.advance(1_000);
    await eventually(() => expect(texts(hanging.received)).toEqual(["shop/a", "shop/a", "shop/b"]));
  });
});

describe("an endpoint with HTTPS", () => {
  const certificates = makeCertificates();

  it("is trusted if an authority of caFile signed its certificate", async () => {
    const { url, received } = await startEndpoint([], certificates.server);
    const folder = await temporaryFiles({ "ca.crt": certificates.ca });
    const { tell } = await startNotifier({ ...everything, url, caFile: join(folder, "ca.crt") });
    tell(rolled("web"));
    await eventually(() => expect(texts(received)).toEqual(["shop/web"]));
  });

  it("gets nothing if its certificate is not trusted", async () => {
    const { url, received } = await startEndpoint([], certificates.server);
    const { tell, logged } = await startNotifier({ ...everything, url });
    tell(rolled("web"));
    await eventually(() => expect(JSON.stringify(logged)).toMatch(/unable to verify|self-signed/));
    expect(received).toEqual([]);
  });
});

describe("the stop", () => {
  it("sends waiting notifications within the rate limit, and reports how many were not sent", async () => {
    const { url, received } = await startEndpoint();
    const { tell, stop, counts, logged } = await startNotifier({ ...everything, url });
    tell(...Array.from({ length: 12 }, (_, index) => rolled(`web-${index}`)));
    await stop();
    expect(received).toHaveLength(10);
    expect(counts()).toEqual({ sent: 10, failed: 0, dropped: 2 });
    const fields = { receiver: "all", count: 2 };
    expect(logged).toEqual([{ message: "stopped before all notifications were sent", fields }]);
  });

  it("waits at most a second for an endpoint that does not answer", async () => {
    const { url, received } = await startEndpoint(["never"]);
    const { tell, clock, stop, counts } = await startNotifier({ ...everything, url });
    tell(rolled("web"));
    await eventually(() => expect(received).toHaveLength(1));
    let ended = false;
    const ending = stop().then(() => {
      ended = true;
    });
    await clock.advance(999);
    expect(ended).toBe(false);
    await clock.advance(1);
    await ending;
    expect(counts()).toEqual({ sent: 0, failed: 1, dropped: 0 });
    expect(clock.pending).toBe(0);
  });

  it("does not wait if there is nothing to send, and leaves no timer", async () => {
    const { url } = await startEndpoint();
    const { clock, stop } = await startNotifier({ ...everything, url });
    await stop();
    expect(clock.pending).toBe(0);
  });
});
