import { expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { withIdleTimeout } from "./paged-list.ts";

it("a stream is silent if no data arrives for the whole limit after the last data", async () => {
  const clock = new FakeClock();
  const silent = new AbortController();
  const passed = (ms: number) => new Promise<void>((resolve) => void clock.timer(ms, resolve));
  const stream = (async function* () {
    await passed(6_000);
    yield Buffer.from("data");
    await passed(30_000);
  })();
  const read = withIdleTimeout(stream, { clock, limitMs: 10_000, silent, what: "watch secrets" });
  const first = read.next();
  await clock.advance(6_000);
  expect((await first).done).toBe(false);
  const next = read.next();
  await clock.advance(9_000);
  expect(silent.signal.aborted).toBe(false);
  await clock.advance(1_000);
  expect(silent.signal.reason).toMatchObject({ message: "watch secrets: no data for 10 s" });
  await clock.advance(20_000);
  expect((await next).done).toBe(true);
  expect(clock.pending).toBe(0);
});
