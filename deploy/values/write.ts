import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { controlPlaneFolder } from "../../test/control-plane/control-plane.ts";
import { generatedFiles } from "./generated.ts";
import { renderedFiles } from "./manifests.ts";

const run = promisify(execFile);

/** Writes files, by path relative to deploy/. */
function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(import.meta.dirname, "..", path), text);
}

write(generatedFiles());
// After the chart was written.
write(await renderedFiles(async (args) => (await run(join(controlPlaneFolder(), "helm"), args)).stdout));
