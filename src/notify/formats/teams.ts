import { type Format, json } from "./format.ts";
import { unlinked } from "./unlinked.ts";

/**
 * The webhook of a Workflow of Microsoft Teams, which takes Adaptive Cards and no MessageCards
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using). The text is a
 * TextRun, in which nothing is Markdown (https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features), so
 * nothing in it formats, links or mentions; {{DATE(…)}} is all that a card makes something of.
 */
export const teams: Format = {
  means: "the webhook of a Workflow in Microsoft Teams",
  fields: [],
  asText: (text) => unlinked(text).replaceAll("{{", "{ {"),
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
    return { headers: json, body: { type: "message", attachments: [attachment] } };
  },
};
