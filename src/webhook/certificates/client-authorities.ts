import { readFile } from "node:fs/promises";
import { readBundle, writeBundle } from "./pem.ts";

/**
 * Reads the certificates of `--webhook-client-ca-file` as one PEM text; undefined without a file.
 * @throws Error of one line with the file and the flag if the file cannot be read or has no certificate.
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
    throw failure("contains a certificate that cannot be read", cause);
  }
  if (bundle === "") throw failure("contains no certificate in PEM");
  return bundle;
}
