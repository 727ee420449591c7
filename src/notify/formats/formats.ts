// Formats: from a message to the headers and JSON of each type of receiver. Pure.
import type { NotificationMessage } from "../notification/notification.ts";

/** The part of a request that the format of the receiver determines. These headers override those of the file. */
interface RequestContent {
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: object;
}

/** Settings of one format, checked when the file is read. */
export interface FormatSettings {
  readonly mode: "structured" | "binary";
  readonly source: string;
}

interface NotificationFormat {
  /** Description for the docs and for errors. */
  readonly means: string;
  /** Fields of the file that only this type has. */
  readonly fields?: readonly (keyof FormatSettings)[];
  /** Escapes an untrusted text, so that the receiver shows it as plain text. Never throws. The result is at most six times as long. */
  readonly escape: (text: string) => string;
  readonly content: (message: NotificationMessage, settings: FormatSettings) => RequestContent;
}

const jsonHeaders = { "content-type": "application/json" };

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

/** Returns a message as JSON: the text for people, and each field of the notification. */
function jsonOf({ notification, text, unsent }: NotificationMessage): object {
  return { text, ...notification, unsent };
}

/** Any endpoint that accepts JSON by POST. */
const webhook: NotificationFormat = {
  means: "any endpoint that accepts JSON",
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
