import { readFileSync } from "node:fs";
import { wave } from "../test/control-plane/wave-process.ts";

const script = readFileSync(wave, "utf8");

/** The flags that `bin/wave` gives to Node.js. Throws if the script no longer has the line with them. */
export const waveFlags: readonly string[] = found(/^exec "\$root\/bin\/node" (.*) "\$bundle" "\$@"$/m).split(" ");

/** The environment that `bin/wave` sets, in addition to that of this process. Throws if the script no longer has the line with it. */
export const waveEnv: NodeJS.ProcessEnv = {
  ...process.env,
  ...Object.fromEntries(
    found(/^export (.*)$/m)
      .split(" ")
      .map((setting) => setting.split("=")),
  ),
};

function found(line: RegExp): string {
  const [, settings] = line.exec(script) ?? [];
  if (settings === undefined) throw new Error(`${wave} has no line ${line}`);
  return settings;
}
