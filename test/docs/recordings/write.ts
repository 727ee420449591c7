import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../fences.ts";
import { record } from "./recordings.ts";

for (const [name, picture] of await record()) writeFileSync(join(root, "docs/pictures", name), picture);
