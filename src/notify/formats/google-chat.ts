import { jsonHeaders, type NotificationFormat } from "./format.ts";
import { withoutLinks } from "./without-links.ts";

const lookalikes: Readonly<Record<string, string>> = { "<": "‹", ">": "›", "`": "'" };

/**
 * An incoming webhook of Google Chat (https://developers.google.com/workspace/chat/quickstart/webhooks): a text message.
 * Mentions and links with a text start with "<", for which there is no escape
 * (https://developers.google.com/workspace/chat/format-messages), so a similar sign replaces it.
 */
export const googleChat: NotificationFormat = {
  means: "an incoming webhook of Google Chat",
  fields: [],
  escape: (text) => withoutLinks(text).replace(/[<>`]/g, (sign) => lookalikes[sign] ?? ""),
  content: ({ text }) => ({ headers: jsonHeaders, body: { text } }),
};
