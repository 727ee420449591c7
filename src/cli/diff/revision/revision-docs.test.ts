import { expect, it } from "vitest";
import { blocksFollowedBy, exchangesOf } from "../../../../test/docs/fences.ts";
import { paintOf } from "../../output/table.ts";
import { renderRevisionDifference } from "./diff-revision.ts";

it("docs/commands.md shows a comparison as wave diff --revision prints it", () => {
  const differences = [
    { configMap: "page", key: "index.html", how: "changed" },
    { configMap: "page", key: "menu.html", how: "added" },
  ] as const;
  const blocks = blocksFollowedBy("src/cli/diff/revision/revision-docs.test.ts", "docs/commands.md");
  expect(blocks.flatMap(exchangesOf)).toEqual([
    {
      command: "wave diff deployment/web --revision 1 -n shop",
      output: renderRevisionDifference({ differences, notes: [], gaps: [] }, 1, paintOf(false)).trimEnd().split("\n"),
    },
  ]);
});
