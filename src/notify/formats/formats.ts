// Formats: from a message to the headers and JSON of each type of receiver. Pure.
import type { NotificationMessage } from "../notification/notification.ts";
import { googleChat, slack, teams } from "./chats.ts";
import { type FormatSettings, jsonHeaders, type NotificationFormat } from "./format.ts";

/** Returns a message as JSON: the text for people, and each field of the notification. */
function jsonOf({ notification, text, unsent }: NotificationMessage): object {
  return { text, ...notification, unsent };
}

/** Any endpoint that accepts JSON by POST. */
const webhook: NotificationFormat = {
  means: "any endpoint that accepts JSON",
  fields: [],
  escape: (text) => text,
  content: (message) => ({ headers: jsonHeaders, body: jsonOf(message) }),
};

/** https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md#context-attributes */
function attributes(
  { id, notification }: NotificationMessage,
  { source }: FormatSettings,
): Readonly<Record<string, string>> {
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
export const cloudEvents: NotificationFormat = {
  means: "any endpoint that accepts CloudEvents 1.0 over HTTP, such as a broker of Knative",
  fields: ["mode", "source"],
  escape: (text) => text,
  content: (message, settings) => {
    const [context, data] = [attributes(message, settings), jsonOf(message)];
    if (settings.mode === "binary") {
      const headers = Object.entries(context).map(([name, value]) => [`ce-${name}`, headerValue(value)]);
      return { headers: { ...jsonHeaders, ...Object.fromEntries(headers) }, body: data };
    }
    const body = { ...context, datacontenttype: jsonHeaders["content-type"], data };
    return { headers: { "content-type": "application/cloudevents+json; charset=UTF-8" }, body };
  },
};

/** All formats, by the `type` of a receiver in the file. */
export const formats = { slack, teams, googleChat, webhook, cloudEvents } as const satisfies Readonly<
  Record<string, NotificationFormat>
>;

/** The `type` of a receiver in the file. */
export type ReceiverType = keyof typeof formats;

/** All types, in the order of the docs. */
export const receiverTypes = Object.keys(formats).filter((name): name is ReceiverType => Object.hasOwn(formats, name));
