import { validateHeaderValue } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rolled } from "../../../test/support/notify/notifier.ts";
import {
  type MessageTemplate,
  maxTextLength,
  parseTemplate,
  renderTemplate,
} from "../notification/message-template.ts";
import { type Notification, notificationOf } from "../notification/notification.ts";
import { formats, receiverTypes } from "./formats.ts";

/** What strangers write: pieces that mean something to one of the formats, to JSON or to a terminal, among anything. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<!channel>",
        "<users/all>",
        "<https://evil.example|here>",
        "&lt;",
        "```",
        "*",
        "_",
        "~",
        "@here",
      ),
      fc.constantFrom(
        "https://evil.example",
        "[a](http://b)",
        "[a](//evil.example)",
        "evil.example/x",
        "{{DATE(2017-02-14T06:00:00Z)}}",
        "{{name}}",
        "<at>x</at>",
      ),
      fc.constantFrom("\u202e", "\n", "\u0000", "\ud800", '"', "\\", "%", "é", "😀"),
      fc.string({ unit: "binary" }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

function notificationWith(name: string, message: string): Notification {
  const event = rolled("web");
  const found = notificationOf({ ...event, message, regarding: { ...event.regarding, name } }, 0);
  if (found === undefined) throw new Error("a roll is a notification");
  return found;
}

function templateOf(text: string): MessageTemplate {
  const template = parseTemplate(text);
  if (typeof template === "string") throw new Error(template);
  return template;
}

const ownMarkup = templateOf("<!here> *{{name}}* <https://wave.example/{{namespace}}|look>: {{message}} {{message}}");
const plain = templateOf("{{name}} {{message}}");

/** The text of a template in one format. */
const textIn = (type: keyof typeof formats, notification: Notification, template = plain) =>
  renderTemplate(template, notification, formats[type].escape);

describe("untrusted text", () => {
  it("is plain text in Slack, without mentions and links, and is not truncated inside an escape", () => {
    fc.assert(
      fc.property(hostile, hostile, (name, message) => {
        const notification = notificationWith(name, message);
        const text = textIn("slack", notification);
        expect(text).not.toMatch(/[<>`]|&(?!(amp|lt|gt);)/);
        const read = text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
        const said = `${notification.name} ${notification.message}`.replaceAll("`", "'");
        if (!read.includes("…")) expect(read).toBe(said);
        const markup = textIn("slack", notification, ownMarkup);
        expect(markup.match(/<[^>]*>/g)).toEqual(["<!here>", "<https://wave.example/shop|look>"]);
      }),
    );
  });

  it("is plain text in Google Chat and Teams, which do not make links of it", () => {
    fc.assert(
      fc.property(hostile, hostile, (name, message) => {
        const notification = notificationWith(name, message);
        expect(textIn("googleChat", notification)).not.toMatch(/[<>`]|:\/\/|\]\(|\.(?=\p{L})(?!html)/u);
        expect(textIn("teams", notification)).not.toMatch(/:\/\/|\{\{/);
      }),
    );
  });

  it("breaks domains for Google Chat, and keeps annotations of Wave and names of files", () => {
    const asText = formats.googleChat.escape;
    expect(asText('see wave.pusher.com/hold on app.v1, key "index.html", evil.html.example')).toBe(
      'see wave.pusher.com/hold on app. v1, key "index.html", evil. html. example',
    );
    expect(asText("wave.pusher.com.evil.example/ x@wave.pusher.com/")).toBe(
      "wave. pusher. com. evil. example/ x@wave. pusher. com/",
    );
  });

  it("contains no control characters and fits, in every format", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...receiverTypes),
        hostile,
        fc.constantFrom(plain, ownMarkup),
        (type, text, template) => {
          const filled = textIn(type, notificationWith(text, text.repeat(30)), template);
          expect(filled).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
          expect(filled.isWellFormed()).toBe(true);
          expect(filled.length).toBeLessThanOrEqual(maxTextLength);
        },
      ),
    );
  });

  it("is a valid HTTP header in binary CloudEvents, and can be decoded", () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const notification = notificationWith(name, "");
        const message = { id: "1", notification, text: "", unsent: [] };
        const { headers } = formats.cloudEvents.content(message, { mode: "binary", source: "/wave" });
        for (const [header, value] of Object.entries(headers)) validateHeaderValue(header, value);
        expect(decodeURIComponent(headers["ce-subject"] ?? "")).toBe(`shop/Deployment/${notification.name}`);
      }),
    );
  });
});

describe("renderTemplate", () => {
  it("keeps the text before a message of any length, and marks the truncation", () => {
    const text = textIn("slack", notificationWith("web", "&".repeat(10_000)), templateOf("*{{name}}* {{message}} end"));
    expect(text).toMatch(/^\*web\* (&amp;)+… end$/);
    expect(text.length).toBeGreaterThan(maxTextLength / 2);
  });
});
