import type { Notification } from "./notification.ts";

/** Placeholders that a template may contain in double braces. */
export const placeholders = [
  "kind",
  "namespace",
  "name",
  "outcome",
  "reason",
  "type",
  "message",
  "time",
] as const satisfies readonly (keyof Notification)[];

type Placeholder = (typeof placeholders)[number];

/** A parsed template: text and placeholders. */
export type MessageTemplate = readonly (string | { readonly placeholder: Placeholder })[];

/** The template of receivers without `text`. */
export const defaultTemplate = "{{kind}} {{namespace}}/{{name}}: {{message}}";

/** Maximum length of a template, in characters. */
const maxTemplateLength = 500;
/** Maximum length of a rendered text, in characters. Slack accepts 3,000 in a section. */
export const maxTextLength = 2_500;

/** Parses a template. Returns a text if it is invalid: the problem, which follows the name of the field. */
export function parseTemplate(text: string): MessageTemplate | string {
  if (text.length > maxTemplateLength) return `has more than ${maxTemplateLength} characters`;
  const parts: (string | { readonly placeholder: Placeholder })[] = [];
  for (const [index, part] of text.split(/\{\{(.*?)\}\}/s).entries()) {
    if (index % 2 === 0) {
      if (part !== "") parts.push(part);
      continue;
    }
    const placeholder = placeholders.find((each) => each === part.trim());
    if (placeholder === undefined) return `contains {{${part.trim()}}}; use ${placeholders.join(", ")}`;
    parts.push({ placeholder });
  }
  if (parts.some((part) => typeof part === "string" && /\{\{|\}\}/.test(part)))
    return "contains {{ or }} without the other";
  return parts;
}

/** Fills a template with escaped fields, in at most {@link maxTextLength} characters. Truncates first, so that no escape is split. */
export function renderTemplate(
  template: MessageTemplate,
  notification: Notification,
  escapeText: (text: string) => string,
): string {
  const literal = template.reduce((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0);
  let room = maxTextLength - literal;
  return template
    .map((part) => {
      if (typeof part === "string") return part;
      const text = truncated(notification[part.placeholder], escapeText, room);
      room -= text.length;
      return text;
    })
    .join("");
}

/** Returns as much of a text as fits after it is escaped, with a mark if it was truncated. */
function truncated(text: string, escapeText: (text: string) => string, room: number): string {
  let [kept, escaped] = [text, escapeText(text)];
  while (escaped.length > Math.max(0, room) && kept !== "") {
    kept = kept.slice(0, Math.floor(kept.length * 0.8)).replace(/[\uD800-\uDBFF]$/, "");
    escaped = room > 0 ? `${escapeText(kept)}…` : "";
  }
  return escaped;
}
