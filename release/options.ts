import { parseArgs } from "node:util";

/** What a person requests with the arguments of `npm run release`. */
export type ReleaseRequest =
  | { readonly action: "prepare"; readonly version: string }
  | { readonly action: "release"; readonly registry: string | undefined; readonly sign: string | undefined };

export const usage = `npm run release -- --prepare X.Y.Z
npm run release -- --version X.Y.Z [--registry HOST/PATH [--sign KEY|keyless]]`;

/** Parses the arguments. `current` is the version of the project. @throws Error with the mistake and the usage. */
export function parseRequest(args: readonly string[], current: string): ReleaseRequest {
  const { values } = parseArgs({
    args: [...args],
    options: {
      prepare: { type: "string" },
      version: { type: "string" },
      registry: { type: "string" },
      sign: { type: "string" },
    },
  });
  const { prepare, version, registry, sign } = values;
  const mistake = (text: string) => new Error(`${text}\n${usage}`);
  if (prepare !== undefined) {
    if (Object.keys(values).length > 1) throw mistake("--prepare takes no other flag");
    if (!/^\d+\.\d+\.\d+$/.test(prepare)) throw mistake(`--prepare ${prepare} is not a version such as 1.2.3`);
    return { action: "prepare", version: prepare };
  }
  if (version === undefined) throw mistake("--version is missing");
  if (version !== current) {
    throw mistake(
      `--version is ${version}, but package.json has ${current}; run --prepare ${version} and commit first`,
    );
  }
  if (sign !== undefined && registry === undefined)
    throw mistake("--sign needs --registry, because it signs what is there");
  if (registry !== undefined && !/^[^\s/:@]+(:\d+)?(\/[a-z0-9._-]+)*$/.test(registry)) {
    throw mistake(`--registry ${registry} is not HOST/PATH`);
  }
  return { action: "release", registry, sign };
}
