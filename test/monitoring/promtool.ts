import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const folders = (process.env.PATH ?? "").split(":");

/** The reason why the tests with a real Prometheus are skipped; undefined if Prometheus is installed. */
export function missingPrometheus(): string | undefined {
  const missing = ["prometheus", "promtool"].filter(
    (name) => !folders.some((folder) => existsSync(join(folder, name))),
  );
  return missing.length === 0 ? undefined : `no ${missing.join(" and ")}: test/monitoring/install gets it from Debian`;
}

/** Runs promtool with `text` in a file of this name in its folder, and returns the output. Rejects if promtool reports an error. */
export async function promtool(args: readonly string[], name: string, text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "wave-promtool-"));
  try {
    writeFileSync(join(folder, name), text);
    return (await run("promtool", [...args, name], { cwd: folder })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`promtool ${args.join(" ")} found fault:\n${stdout}${stderr}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
