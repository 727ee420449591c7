import { rm } from "node:fs/promises";
import { run } from "./command.ts";

/** Signs with cosign: with the key in a file or, for "keyless", with the identity of the workflow that runs. */
export interface Signer {
  /** Signs what an address with a digest names, with everything in it. */
  readonly sign: (address: string) => Promise<void>;
  /** Attaches a signed predicate to what an address with a digest names. */
  readonly attest: (address: string, type: PredicateType, predicate: string) => Promise<void>;
  /** Writes the signature of a file beside it, as `FILE.sigstore.json`. */
  readonly signFile: (file: string) => Promise<void>;
  /** Writes a signed predicate about a file beside it, as `FILE.provenance.sigstore.json`. */
  readonly attestFile: (file: string, predicate: string) => Promise<void>;
}

type PredicateType = "slsaprovenance1" | "spdxjson";

/** Returns a signer for the value of `--sign`. */
export function signerWith(key: string): Signer {
  // A key works offline. Without a key, the public log proves when the identity signed.
  const offline = ["--key", key, "--use-signing-config=false", "--tlog-upload=false"];
  const flags = ["--yes", ...(key === "keyless" ? [] : offline)];
  const cosign = async (...args: string[]) => {
    const [verb = "", ...rest] = args;
    await run("cosign", [verb, ...flags, ...rest]);
  };
  return {
    sign: (address) => cosign("sign", "--recursive", address),
    attest: (address, type, predicate) => cosign("attest", "--type", type, "--predicate", predicate, address),
    signFile: async (file) => {
      await rm(`${file}.sigstore.json`, { force: true });
      await cosign("sign-blob", "--bundle", `${file}.sigstore.json`, file);
    },
    attestFile: async (file, predicate) => {
      const about = ["--type", "slsaprovenance1", "--predicate", predicate];
      await cosign("attest-blob", ...about, "--bundle", `${file}.provenance.sigstore.json`, file);
    },
  };
}
