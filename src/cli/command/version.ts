import { readFileSync } from "node:fs";

/** Put in by the bundler. */
declare const bundledVersion: string | undefined;

/** Wave's version: the bundle knows its own, the sources read it from package.json. */
export function version(): string {
  if (typeof bundledVersion === "string") return bundledVersion;
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(text);
  return version;
}
