import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { controlPlaneFolder } from "../../test/control-plane/control-plane.ts";
import { generatedFiles } from "./generated.ts";
import { renderedFiles } from "./manifests.ts";

const run = promisify(execFile);

/** Writes files of deploy/: texts by paths. */
function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(import.meta.dirname, "..", path), text);
}

write(generatedFiles());
// With the chart as it has just been written.
write(await renderedFiles(async (args) => (await run(join(controlPlaneFolder(), "helm"), args)).stdout));
