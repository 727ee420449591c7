import type { Notification } from "./notification.ts";

/** What a template may name in double braces. */
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

/** A text with places for what a notification is about. */
export type Template = readonly (string | { readonly placeholder: Placeholder })[];

/** The template where the file says none. */
export const defaultTemplate = "{{kind}} {{namespace}}/{{name}}: {{message}}";

/** Characters that a template may have. */
export const longestTemplate = 500;
/** Characters that a text made of one may have: Slack takes 3,000 in a section. */
export const longestText = 2_500;

/** Reads a template; a text is what is wrong with it, to follow the name of its field. */
export function parseTemplate(text: string): Template | string {
  if (text.length > longestTemplate) return `has more than ${longestTemplate} characters`;
  const parts: (string | { readonly placeholder: Placeholder })[] = [];
  for (const [index, part] of text.split(/\{\{(.*?)\}\}/s).entries()) {
    if (index % 2 === 0) {
      if (part !== "") parts.push(part);
      continue;
    }
    const placeholder = placeholders.find((each) => each === part.trim());
    if (placeholder === undefined) return `has {{${part.trim()}}}; there is ${placeholders.join(", ")}`;
    parts.push({ placeholder });
  }
  if (parts.some((part) => typeof part === "string" && /\{\{|\}\}/.test(part))) return "has {{ or }} without the other";
  return parts;
}

/**
 * The template with what the notification says, escaped, in at most {@link longestText} characters: what is too long is
 * cut before it is escaped, so that no escape is cut in two.
 */
export function fill(template: Template, notification: Notification, asText: (text: string) => string): string {
  const literal = template.reduce((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0);
  let room = longestText - literal;
  return template
    .map((part) => {
      if (typeof part === "string") return part;
      const text = fitting(notification[part.placeholder], asText, room);
      room -= text.length;
      return text;
    })
    .join("");
}

/** As much of a text as fits once it is escaped, with a mark where something is left out. */
function fitting(text: string, asText: (text: string) => string, room: number): string {
  let [kept, escaped] = [text, asText(text)];
  while (escaped.length > Math.max(0, room) && kept !== "") {
    kept = kept.slice(0, Math.floor(kept.length * 0.8)).replace(/[\uD800-\uDBFF]$/, "");
    escaped = room > 0 ? `${asText(kept)}…` : "";
  }
  return escaped;
}
