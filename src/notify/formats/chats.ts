import { jsonHeaders, type NotificationFormat } from "./format.ts";

const slackEntities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "'" };

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
  escape: (text) => text.replace(/[&<>`]/g, (sign) => slackEntities[sign] ?? ""),
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

/**
 * The webhook of a Workflow of Microsoft Teams, which takes Adaptive Cards and no MessageCards
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using). The text is a
 * TextRun, which does not support Markdown (https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features). Nothing in it
 * is formatted, linked or mentioned; a card evaluates only {{DATE(…)}}, which is escaped.
 */
export const teams: NotificationFormat = {
  means: "the webhook of a Workflow in Microsoft Teams",
  fields: [],
  escape: (text) => withoutLinks(text).replaceAll("{{", "{ {"),
  content: ({ text, notification }) => {
    const color = notification.type === "Warning" ? "Attention" : "Default";
    const content = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body: [{ type: "RichTextBlock", inlines: [{ type: "TextRun", text, color }] }],
      msteams: { width: "Full" },
    };
    const attachment = { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content };
    return { headers: jsonHeaders, body: { type: "message", attachments: [attachment] } };
  },
};

const lookalikes: Readonly<Record<string, string>> = { "<": "‹", ">": "›", "`": "'" };

/**
 * An incoming webhook of Google Chat (https://developers.google.com/workspace/chat/quickstart/webhooks): a text message.
 * Mentions and links with a text start with "<", for which there is no escape
 * (https://developers.google.com/workspace/chat/format-messages), so a similar sign replaces it. Newer apps read Markdown, whose
 * links contain "](". Chat also makes a link of a domain without a scheme, so a space follows its dots.
 */
export const googleChat: NotificationFormat = {
  means: "an incoming webhook of Google Chat",
  fields: [],
  escape: (text) =>
    withoutDomains(withoutLinks(text))
      .replace(/[<>`]/g, (sign) => lookalikes[sign] ?? "")
      .replaceAll("](", "] ("),
  content: ({ text }) => ({ headers: jsonHeaders, body: { text } }),
};

/** Breaks URLs, so that no client shows a link. Otherwise anyone who names an object could choose its target. */
function withoutLinks(text: string): string {
  return text.replaceAll("://", ": //");
}

const annotationName = /(?<![\p{L}\p{N}.@-])wave\.pusher\.com(?=\/)/u.source;
/** No domain ends in these endings of files, which are frequent in keys. */
const fileEnding = /(?:cfg|conf|crt|env|html|ini|json|pem|toml|txt|xml|ya?ml)(?![\p{L}\p{N}.-])/u.source;
const dots = new RegExp(`${annotationName}|\\.(?=\\p{L})(?!${fileEnding})`, "gu");

/** Breaks domains, except in the names of Wave's annotations. */
function withoutDomains(text: string): string {
  return text.replace(dots, (found) => (found === "." ? ". " : found));
}
