import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "./clock.ts";

it("fires a timer with a past time immediately, without a warning of Node.js", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  await new Promise<void>((resolve) => systemClock.timer(-289, resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});
