import { jsonHeaders, type NotificationFormat } from "./format.ts";

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "'" };

/**
 * An incoming webhook of Slack (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/): a section of
 * mrkdwn. With `verbatim` Slack makes no links and no mentions of plain text
 * (https://docs.slack.dev/reference/block-kit/composition-objects/text-object). The only other form of a mention starts with "<",
 * which is escaped (https://docs.slack.dev/messaging/formatting-message-text/#escaping). Backquotes have no escape, and three of
 * them would format the rest of the text, so another sign replaces them.
 */
export const slack: NotificationFormat = {
  means: "an incoming webhook of Slack",
  fields: [],
  escape: (text) => text.replace(/[&<>`]/g, (sign) => entities[sign] ?? ""),
  content: ({ text }) => ({
    headers: jsonHeaders,
    body: {
      // The preview in notifications of phones.
      text,
      blocks: [{ type: "section", text: { type: "mrkdwn", text, verbatim: true } }],
      unfurl_links: false,
      unfurl_media: false,
    },
  }),
};
