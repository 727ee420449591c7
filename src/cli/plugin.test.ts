import { expect, it } from "vitest";
import { runWave } from "../../test/support/cli/terminal.ts";

it("names its commands as kubectl wave when kubectl runs the plugin", async () => {
  const asPlugin = (...args: readonly string[]) => runWave(args, {}, { program: "kubectl wave" });
  expect((await asPlugin("help")).out).toMatch(/^Usage: kubectl wave COMMAND \[flags\]$/m);
  const { out } = await asPlugin("wait", "--help");
  expect(out).toMatch(/^Usage: kubectl wave wait /m);
  expect(out).toContain("  kubectl apply -f shop/ && kubectl wave wait deployment/web ");
  expect(out).not.toContain("kubectl kubectl");
  expect((await asPlugin("lst")).err).toBe('error: unknown command "lst"; did you mean list?\n');
  expect((await asPlugin("list", "--nope")).err).toMatch(/^error: unknown flag/);
});
