import { expect, it } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { BatchReaders } from "./batch-readers.ts";

it("a thousand namespaces that share an object visit all its readers once a second, not once each", async () => {
  const clock = new FakeClock();
  const names = Array.from({ length: 1_000 }, (_, index) => `tenant-${index}`);
  let gone = 0;
  const readers = new BatchReaders(clock, function* () {
    for (const namespace of names) {
      for (const name of ["a", "b"]) {
        gone++;
        yield `Deployment/${namespace}/${name}`;
      }
    }
  });
  const askAll = () => {
    for (const name of names) {
      expect(readers.in(name, "ConfigMap/shared/web")).toEqual([`Deployment/${name}/a`, `Deployment/${name}/b`]);
    }
  };
  askAll();
  await clock.advance(999);
  askAll();
  expect(gone).toBe(2_000);
  await clock.advance(1);
  askAll();
  expect(gone).toBe(4_000);
  expect(readers.in("stranger", "ConfigMap/shared/web")).toEqual([]);
});
