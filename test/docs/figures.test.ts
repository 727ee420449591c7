import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { quotingPages } from "../../bench/quoted.ts";
import { root } from "./fences.ts";

it("pages quote the figures of bench/README.md, as `npm run bench` writes them", () => {
  for (const [page, text] of quotingPages()) expect(readFileSync(join(root, page), "utf8"), page).toBe(text);
});
