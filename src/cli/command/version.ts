import { readFileSync } from "node:fs";

/** Set by the bundler. */
declare const bundledVersion: string | undefined;

/** Returns the version of Wave: from the bundle, or from package.json if the sources run. */
export function version(): string {
  if (typeof bundledVersion === "string") return bundledVersion;
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(text);
  return version;
}
