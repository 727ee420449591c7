import { enumerated } from "../../domain/syntax/wording.ts";
import { type FlagValues, type GivenFlag, parseFlags } from "../flags/parse-flags.ts";
import { printable } from "../output/printable.ts";
import type { CommandCall, Cluster } from "./cluster-command.ts";
import { inheritedFlags, type KnownPolicy, readPolicy } from "./inherited-flags.ts";
import { type RunningWave, type RunningWaves, readRunningWaves, wavesWatching } from "./running-wave.ts";

/**
 * The policy of the Wave that runs for a namespace, or with undefined for all: by the flags of whoever calls the command, and for each
 * that is not given by the Deployment. Writes a line on standard error where that says anything. Where no Deployment may be
 * read, which a line says to who gives none of them, or none runs Wave, as from outside of the cluster, the flags alone tell.
 */
export async function readRunningPolicy<T extends typeof inheritedFlags>(
  command: string,
  { client }: Cluster,
  { values, given, terminal }: CommandCall<T>,
  namespace: string | undefined,
  known?: RunningWaves,
): Promise<KnownPolicy> {
  const waves = known ?? (await readRunningWaves(client));
  const [wave, ...others] = "unread" in waves ? [] : wavesWatching(waves, namespace);
  const say = (line: string) => terminal.writeError(`wave ${command}: ${printable(line)}\n`);
  const isGiven = Object.keys(inheritedFlags).some((name) => given.has(name));
  // Who has read them already tells it in his own words.
  if ("unread" in waves && known === undefined && !isGiven)
    say(
      `with which flags Wave runs is not known here: ${waves.unread}; the defaults count, and those that you give, also as variables such as WAVE_WINDOW`,
    );
  if (wave === undefined || others.length > 0) {
    if (wave !== undefined)
      say(`whose flags count is not known, since several Waves run: ${enumerated([wave, ...others], 3, describeWave)}`);
    return readPolicy(client, values);
  }
  const told = effectiveFlags(wave, given);
  if (told.taken.length > 0) say(`${describeWave(wave)} was told ${told.taken.join(" ")}, and so it is here`);
  return readPolicy(client, told.values);
}

/** What the Wave that runs was told, as far as that is known. */
export interface EffectiveFlags {
  readonly values: FlagValues<typeof inheritedFlags>;
  /** The flags that its Deployment said, as they are written there: `--window=…`. Those that change nothing are not among them. */
  readonly taken: readonly string[];
}

/** The flags that whoever calls a command gives; each that they do not give is taken from the Deployment. */
export function effectiveFlags({ flags }: Pick<RunningWave, "flags">, given: ReadonlyMap<string, GivenFlag>): EffectiveFlags {
  const own: string[] = [];
  const taken: string[] = [];
  for (const [name, row] of Object.entries(inheritedFlags)) {
    const told = flags.get(name);
    const text = given.get(name)?.text;
    if (text !== undefined) own.push(`--${name}=${text}`);
    else if (told !== undefined && row.parse(told) !== row.default) taken.push(`--${name}=${told}`);
  }
  const parsed = parseFlags(inheritedFlags, [...own, ...taken], {});
  if (parsed.action !== "run") throw new Error("a flag of Wave's asks for help");
  return { values: parsed.values, taken };
}

/** `deployment/wave in wave-system`. */
export function describeWave({ namespace, name }: Pick<RunningWave, "namespace" | "name">): string {
  return `deployment/${name} in ${namespace}`;
}
