import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./fences.ts";
import { record, withoutChance } from "./recordings/recordings.ts";
import { linesOf } from "./recordings/terminal-picture.ts";

it("pictures of terminals show what the commands print, as `npm run pictures` draws it", async () => {
  for (const [name, picture] of await record()) {
    const stored = readFileSync(join(root, "docs/pictures", name), "utf8");
    expect(withoutChance(linesOf(stored)), name).toEqual(withoutChance(linesOf(picture)));
  }
});
