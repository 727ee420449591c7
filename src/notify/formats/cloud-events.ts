import type { Message } from "../notification/notification.ts";
import { type Format, type FormatSettings, json } from "./format.ts";
import { told } from "./webhook.ts";

/** https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md#context-attributes */
function attributes({ id, notification }: Message, { source }: FormatSettings): Readonly<Record<string, string>> {
  const { outcome, kind, namespace, name, time } = notification;
  const subject = `${namespace}/${kind}/${name}`;
  return { specversion: "1.0", id, source, type: `com.pusher.wave.${outcome}`, subject, time };
}

/** https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md#3132-http-header-values */
function headerValue(text: string): string {
  return text.toWellFormed().replace(/[^\u0021\u0023\u0024\u0026-\u007e]/gu, encodeURIComponent);
}

/**
 * CloudEvents 1.0 over HTTP, in structured or in binary mode
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md#3-http-message-mapping).
 */
export const cloudEvents: Format = {
  means: "whatever takes CloudEvents 1.0 over HTTP, such as a broker of Knative",
  fields: ["mode", "source"],
  asText: (text) => text,
  content: (message, settings) => {
    const [context, data] = [attributes(message, settings), told(message)];
    if (settings.mode === "binary") {
      const headers = Object.entries(context).map(([name, value]) => [`ce-${name}`, headerValue(value)]);
      return { headers: { ...json, ...Object.fromEntries(headers) }, body: data };
    }
    const body = { ...context, datacontenttype: json["content-type"], data };
    return { headers: { "content-type": "application/cloudevents+json; charset=UTF-8" }, body };
  },
};
