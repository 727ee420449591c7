import { createPrivateKey, hkdfSync, timingSafeEqual } from "node:crypto";
import type { WebhookClientConfig } from "kubernetes-types/admissionregistration/v1.d.ts";
import type { KeyPair } from "./pem.ts";

/**
 * The path of the webhook is a secret that only the API server is told, by the registration: the API server does not
 * identify itself otherwise. It is `/mutate/` and a token, by which Wave knows who may ask.
 */

const prefix = "/mutate/";

/** A token of files: from 32 characters on, at least 128 bits where they are random hexadecimal digits. */
const form = /^[A-Za-z0-9_-]{32,128}$/;

/** Whether a text can be a token. */
export function isToken(text: string): boolean {
  return form.test(text);
}

/** What was derived already: one step asks for it several times. */
const derived = new WeakMap<KeyPair, string>();

/** The token of an authority: 128 bits that only those know who have its key, in 32 hexadecimal digits. */
export function tokenOf(pair: KeyPair): string {
  const known = derived.get(pair);
  if (known !== undefined) return known;
  const secret = createPrivateKey(pair.key).export({ type: "pkcs8", format: "der" });
  const bytes = hkdfSync("sha256", secret, "", "path of the webhook of wave.pusher.com", 16);
  const token = Buffer.from(bytes).toString("hex");
  derived.set(pair, token);
  return token;
}

/** The path that carries a token. */
export function pathWith(token: string): string {
  return prefix + token;
}

/** The token in the path by which the API server calls; undefined where it has none. */
export function tokenIn({ service, url }: WebhookClientConfig): string | undefined {
  const path = service?.path ?? (url === undefined ? undefined : URL.parse(url)?.pathname);
  const token = path?.startsWith(prefix) ? path.slice(prefix.length) : "";
  return isToken(token) ? token : undefined;
}

/** Whether a request's target carries one of the tokens; the time that it takes tells nothing about them. */
export function carriesToken(target: string, tokens: readonly string[]): boolean {
  const [path = ""] = target.split("?", 1);
  const given = Buffer.from(path);
  let carries = false;
  for (const token of tokens) {
    const expected = Buffer.from(pathWith(token));
    if (given.length === expected.length && timingSafeEqual(given, expected)) carries = true;
  }
  return carries;
}
