import { expect, it } from "vitest";
import { runWave } from "../../test/support/cli/terminal.ts";

it("kubectl's plugin speaks of the commands as people type them there", async () => {
  const asPlugin = (...args: readonly string[]) => runWave(args, {}, { program: "kubectl wave" });
  expect((await asPlugin("help")).out).toMatch(/^Usage: kubectl wave COMMAND \[flags\]$/m);
  const { out } = await asPlugin("wait", "--help");
  expect(out).toMatch(/^Usage: kubectl wave wait /);
  expect(out).toContain(" kubectl apply -f shop/ && kubectl wave wait deployment/web ");
  expect(out).not.toContain("kubectl kubectl");
  expect((await asPlugin("lst")).err).toBe('kubectl wave: unknown command "lst"; did you mean list?\n');
  expect((await asPlugin("list", "--nope")).err).toMatch(/^kubectl wave list: unknown flag/);
});
