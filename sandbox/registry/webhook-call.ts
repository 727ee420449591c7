import { request } from "node:https";
import { type Json, type JsonObject, stringOf } from "../objects/json.ts";
import type { WebhookCaller } from "./webhooks.ts";

/**
 * Calls webhooks by their `url`, trusting their `caBundle`. A `service` leads nowhere here, and match conditions count as
 * true: there is no CEL.
 */
export const webhooksByUrl: WebhookCaller = { call: post, matches: () => true };

function post({ url, caBundle, service }: JsonObject, review: JsonObject, timeoutMs: number): Promise<Json> {
  if (typeof url !== "string") {
    return Promise.reject(new Error(`service ${JSON.stringify(service)} not found`));
  }
  const body = JSON.stringify(review);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const ca = Buffer.from(stringOf(caBundle), "base64").toString();
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, timeout: timeoutMs, ...(ca !== "" && { ca }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode !== 200) return reject(new Error(`it answered ${response.statusCode}`));
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString()) as Json);
        } catch {
          reject(new Error("its answer is not JSON"));
        }
      });
    });
    sent.on("timeout", () => sent.destroy(new Error("context deadline exceeded")));
    sent.on("error", reject);
    sent.end(body);
  });
}
