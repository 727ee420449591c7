import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminal } from "../../../src/cli/command/command.ts";
import { wave } from "../../../src/cli/wave.ts";

/** The output and the exit code of a command. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `wave` in this process, with only the given environment variables. */
export async function runWave(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  terminal: Partial<Terminal> = {},
): Promise<Ended> {
  let [out, err] = ["", ""];
  const code = await wave(args, {
    env,
    homeDir: "/does/not/exist",
    program: "wave",
    input: async function* () {},
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
    },
    outputToTerminal: false,
    outputColumns: undefined,
    errorsToTerminal: false,
    live: undefined,
    ...terminal,
  });
  return { code, out, err };
}

/** Writes a kubeconfig into a new file, as JSON, which is also YAML, and returns its path. */
export function kubeconfigFile(kubeconfig: object): string {
  const file = join(mkdtempSync(join(tmpdir(), "wave-kubeconfig-")), "kubeconfig");
  writeFileSync(file, JSON.stringify(kubeconfig));
  return file;
}
