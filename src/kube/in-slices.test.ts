import { expect, it } from "vitest";
import { inSlices } from "./in-slices.ts";

it("much that comes at once lets everything else have its turn in between, and all of it is passed on", async () => {
  const chunks = Array.from({ length: 64 }, (_, index) => Buffer.alloc(64 * 1024, index));
  async function* atOnce() {
    yield* chunks;
  }
  let turns = 0;
  let over = false;
  const turn = () => {
    turns += 1;
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  const passedOn: Buffer[] = [];
  for await (const chunk of inSlices(atOnce())) passedOn.push(chunk);
  over = true;
  expect(passedOn).toEqual(chunks);
  expect(turns).toBeGreaterThanOrEqual(15);
});
