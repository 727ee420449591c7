import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "./clock.ts";

it("has a timer that is over already end at once, of which Node says nothing in the log", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  await new Promise<void>((resolve) => systemClock.timer(-289, resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});
