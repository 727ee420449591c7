import { type Format, json } from "./format.ts";

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "'" };

/**
 * An incoming webhook of Slack (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/): a section of
 * mrkdwn. With `verbatim` Slack makes nothing of plain text, neither links nor mentions
 * (https://docs.slack.dev/reference/block-kit/composition-objects/text-object); what begins with "<" is the only other
 * way to mention somebody, and is escaped (https://docs.slack.dev/messaging/formatting-message-text/#escaping).
 * For backquotes there is no escape, and three of them would swallow what follows.
 */
export const slack: Format = {
  means: "an incoming webhook of Slack",
  fields: [],
  asText: (text) => text.replace(/[&<>`]/g, (sign) => entities[sign] ?? ""),
  content: ({ text }) => ({
    headers: json,
    body: {
      // What phones show of it before it is opened.
      text,
      blocks: [{ type: "section", text: { type: "mrkdwn", text, verbatim: true } }],
      unfurl_links: false,
      unfurl_media: false,
    },
  }),
};
