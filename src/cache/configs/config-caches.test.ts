import { expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { configKey, limits, parsedKeys } from "../../domain/references/references.ts";
import { maxParsedKeys } from "../../kube/http/json-bytes.ts";
import { Absences } from "./config-caches.ts";

it("an object with too many keys to parse exceeds the limit, so that no hash covers only a part of it", () => {
  expect(maxParsedKeys).toBeGreaterThan(limits.keysOfObject.max);
  expect(maxParsedKeys).toBe(parsedKeys);
});

const secret = (name: string) => ({ kind: "Secret", namespace: "shop", name }) as const;

it("an object is absent since the last list or its last removal", async () => {
  const clock = new FakeClock();
  await clock.advance(1_000);
  const absences = new Absences(clock);
  expect(absences.since(secret("a"))).toBeUndefined();
  absences.listed("ConfigMap", "shop");
  absences.listed("Secret", "other");
  expect(absences.since(secret("a"))).toBeUndefined();
  absences.listed("Secret", "shop");
  const listed = clock.monotonic();
  expect(absences.since(secret("a"))).toBe(listed);

  await clock.advance(1_000);
  absences.removed(configKey(secret("a")));
  expect([absences.since(secret("a")), absences.since(secret("b"))]).toEqual([listed + 1_000, listed]);
  await clock.advance(1_000);
  absences.listed("Secret", "");
  expect(absences.since(secret("a"))).toBe(listed + 2_000);
});

it("forgets the oldest of many removals, and takes all objects as absent since then", async () => {
  const clock = new FakeClock();
  const absences = new Absences(clock);
  await clock.advance(1);
  absences.listed("Secret", "");
  for (let i = 0; i <= 1_000; i++) {
    await clock.advance(1);
    absences.removed(configKey(secret(`s${i}`)));
  }
  expect(absences.since(secret("s0"))).toBe(clock.monotonic() - 1_000);
  expect(absences.since(secret("other"))).toBe(clock.monotonic() - 1_000);
  expect(absences.since(secret("s1"))).toBe(clock.monotonic() - 999);
});
