import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { quotingPages } from "../../bench/quoted.ts";
import { root } from "./fences.ts";

it("figures that pages quote are those of docs/performance.md, as `npm run bench` writes them", () => {
  for (const [page, text] of quotingPages()) expect(readFileSync(join(root, page), "utf8"), page).toBe(text);
});
