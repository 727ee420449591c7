import { spawn } from "node:child_process";

/** Options of {@link run}. */
export interface CommandOptions {
  readonly cwd?: string;
  /** Variables that are added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the standard error of the program is hidden, because a failure of it is expected. Default false. */
  readonly quiet?: boolean;
}

/**
 * Runs a program and returns its standard output without the last line break. Its standard error is that of this process.
 * @throws Error that names the program, if it does not succeed.
 */
export function run(
  program: string,
  args: readonly string[],
  { cwd, env, quiet = false }: CommandOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const surroundings = { ...process.env, npm_config_update_notifier: "false", ...env };
    const child = spawn(program, args, {
      cwd,
      env: surroundings,
      stdio: ["ignore", "pipe", quiet ? "ignore" : "inherit"],
    });
    const output: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.once("error", (error) => reject(new Error(`cannot run ${program}: ${error.message}; run release/install`)));
    child.once("close", (code) => {
      const text = Buffer.concat(output).toString().replace(/\n$/, "");
      if (code === 0) resolve(text);
      else reject(new Error(`${program} ${args.slice(0, 2).join(" ")} failed with exit code ${code}\n${text}`));
    });
  });
}
