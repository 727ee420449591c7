import { jsonHeaders, type NotificationFormat } from "./format.ts";
import { withoutLinks } from "./without-links.ts";

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
