import { hashFormat } from "../../../domain/config/hash.ts";
import type { HashKeys } from "../../../domain/policy/hash-key.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { SecretName } from "../../../kube/secrets/own-secret.ts";
import { hashKeySecret } from "../../../manager/hash-key/hash-key-secret.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";

/** The keys of hashes, as far as the user may read them. */
export type ReadHashKeys =
  | { readonly state: "read"; readonly keys: HashKeys }
  /** `why` is the next step or the error, in one line. */
  | { readonly state: "not requested" | "unread"; readonly why: string };

/** Reads the keys from the Secret that `--hash-key-secret` names, if it names one. Never rejects. */
export async function readHashKeys(
  client: Pick<ApiClient, "request">,
  name: SecretName | undefined,
): Promise<ReadHashKeys> {
  if (name === undefined) return { state: "not requested", why: "pass --hash-key-secret" };
  const secret = hashKeySecret(client, name);
  try {
    const read = await secret.read();
    if (read === undefined) return { state: "unread", why: `not found: ${secret.description}` };
    return { state: "read", keys: { ...read.keys, remembered: [] } };
  } catch (error) {
    return { state: "unread", why: errorText(error) };
  }
}

/** The key of a recorded hash, as `wave explain` shows it; null if there is no hash, or a hash of another algorithm. */
export type HashForm = "no key" | "current key" | "previous key" | "unknown key" | null;

/** Returns which key a recorded hash uses. */
export function hashFormOf(recorded: string | undefined, read: ReadHashKeys): HashForm {
  const form = recorded === undefined ? "foreign" : hashFormat(recorded);
  if (form === "foreign") return null;
  if (form.keyId === undefined) return "no key";
  if (read.state !== "read") return "unknown key";
  if (form.keyId === read.keys.current.id) return "current key";
  return form.keyId === read.keys.previous?.id ? "previous key" : "unknown key";
}
