import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { configMaps, start, watch } from "../../test/support/sandbox-client.ts";

describe("faults", () => {
  it("reject with a status and Retry-After as often as the rule defines", async () => {
    const sandbox = await start();
    const action = { type: "status", status: 429, retryAfterSeconds: 7 } as const;
    sandbox.faults.add({ match: ({ method, path }) => method === "GET" && path === configMaps, action, times: 1 });
    const refused = await fetch(sandbox.url + configMaps);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("7");
    expect(await refused.json()).toMatchObject({
      kind: "Status",
      reason: "TooManyRequests",
      details: { retryAfterSeconds: 7 },
    });
    expect((await fetch(sandbox.url + configMaps)).status).toBe(200);
  });

  it("drop the connection until they are removed", async () => {
    const sandbox = await start();
    const end = sandbox.faults.add({ match: ({ query }) => query.get("watch") === "1", action: { type: "drop" } });
    await expect(watch(sandbox, "").next()).rejects.toThrow("fetch failed");
    expect(sandbox.requests.at(-1)).toMatchObject({ verb: "watch", status: 0 });
    end();
    expect((await fetch(`${sandbox.url}${configMaps}?watch=1`)).status).toBe(200);
  });

  it("delay the answer", async () => {
    const clock = new FakeClock();
    const sandbox = await start({ clock, controllers: false });
    sandbox.faults.add({ match: () => true, action: { type: "delay", ms: 5_000 } });
    const idle = clock.pending;
    let answered = false;
    const answer = fetch(sandbox.url + configMaps).then(() => {
      answered = true;
    });
    await expect.poll(() => clock.pending).toBe(idle + 1);
    await clock.advance(4_999);
    expect(answered).toBe(false);
    await clock.advance(1);
    await answer;
  });

  it("swallow the request", async () => {
    const sandbox = await start();
    sandbox.faults.add({ match: () => true, action: { type: "blackHole" } });
    const signal = AbortSignal.timeout(200);
    await expect(fetch(sandbox.url + configMaps, { signal })).rejects.toThrow("timeout");
    expect(sandbox.requests).toMatchObject([{ verb: "list", status: 0 }]);
  });
});
