import { createPrivateKey, hkdfSync, timingSafeEqual } from "node:crypto";
import type { WebhookClientConfig } from "#kubernetes";
import type { KeyPair } from "./pem.ts";

/**
 * The secret path of the webhook: `/mutate/` and a token. The registration gives the path to the API server, which has no other
 * way to identify itself. Wave answers only requests with a valid token.
 */

const prefix = "/mutate/";

/** The form of a token. 32 random hexadecimal digits have 128 bits. */
const tokenPattern = /^[A-Za-z0-9_-]{32,128}$/;

/** Reports whether a text has the form of a token. */
export function isToken(text: string): boolean {
  return tokenPattern.test(text);
}

/** Returns the token of an authority: 128 bits as 32 hexadecimal digits, which cannot be computed without its key. */
export function tokenOf({ key }: KeyPair): string {
  const secret = createPrivateKey(key).export({ type: "pkcs8", format: "der" });
  const bytes = hkdfSync("sha256", secret, "", "path of the webhook of wave.pusher.com", 16);
  return Buffer.from(bytes).toString("hex");
}

/** Returns the secret path at which the API server calls the webhook: `/mutate/` and the token. The form of the token is not checked. */
export function pathWith(token: string): string {
  return prefix + token;
}

/** Returns the token in the path that the API server calls; undefined without a valid one. */
export function tokenIn({ service, url }: WebhookClientConfig): string | undefined {
  const path = service?.path ?? (url === undefined ? undefined : URL.parse(url)?.pathname);
  const token = path?.startsWith(prefix) ? path.slice(prefix.length) : "";
  return isToken(token) ? token : undefined;
}

/** Reports whether a request target has one of the tokens, in a time that reveals nothing about them. */
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
