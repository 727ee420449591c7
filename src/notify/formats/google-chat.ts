import { type Format, json } from "./format.ts";
import { unlinked } from "./unlinked.ts";

const lookalikes: Readonly<Record<string, string>> = { "<": "‹", ">": "›", "`": "'" };

/**
 * An incoming webhook of Google Chat (https://developers.google.com/workspace/chat/quickstart/webhooks): a text message.
 * Mentions and links with a text of their own begin with "<", for which there is no escape
 * (https://developers.google.com/workspace/chat/format-messages), so another sign stands there.
 */
export const googleChat: Format = {
  means: "an incoming webhook of Google Chat",
  fields: [],
  asText: (text) => unlinked(text).replace(/[<>`]/g, (sign) => lookalikes[sign] ?? ""),
  content: ({ text }) => ({ headers: json, body: { text } }),
};
