import { readFile } from "node:fs/promises";
import { readBundle, writeBundle } from "./pem.ts";

/**
 * The certificates in the file of `--webhook-client-ca-file`, as one PEM text; undefined where no file is given.
 * @throws Error in one line, which names the file and the flag, where it cannot be read or has none.
 */
export async function clientAuthorities(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const failure = (what: string, cause?: unknown) => new Error(`${file} ${what} (--webhook-client-ca-file)`, { cause });
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw failure("cannot be read", cause);
  });
  let bundle: string;
  try {
    bundle = writeBundle(readBundle(text));
  } catch (cause) {
    throw failure("has a certificate that cannot be read", cause);
  }
  if (bundle === "") throw failure("has no certificate in PEM");
  return bundle;
}
