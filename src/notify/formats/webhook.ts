import type { NotificationMessage } from "../notification/notification.ts";
import { jsonHeaders, type NotificationFormat } from "./format.ts";

/** Returns a message as JSON: the text for people, and each field of the notification. */
export function jsonOf({ notification, text, unsent }: NotificationMessage): object {
  return { text, ...notification, unsent };
}

/** Any endpoint that accepts JSON by POST. */
export const webhook: NotificationFormat = {
  means: "any endpoint that accepts JSON",
  fields: [],
  escape: (text) => text,
  content: (message) => ({ headers: jsonHeaders, body: jsonOf(message) }),
};
