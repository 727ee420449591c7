import type { Message } from "../notification/notification.ts";
import { type Format, json } from "./format.ts";

/** What programs are told: the text for people, and each part of it apart. */
export function told({ notification, text, unsent }: Message): object {
  return { text, ...notification, unsent };
}

/** Whatever takes JSON by POST. */
export const webhook: Format = {
  means: "anything that takes JSON",
  fields: [],
  asText: (text) => text,
  content: (message) => ({ headers: json, body: told(message) }),
};
