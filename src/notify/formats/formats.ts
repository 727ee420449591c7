// Formats: one file for each type of receiver, from a message to headers and JSON. Pure.
import { cloudEvents } from "./cloud-events.ts";
import type { NotificationFormat } from "./format.ts";
import { googleChat } from "./google-chat.ts";
import { slack } from "./slack.ts";
import { teams } from "./teams.ts";
import { webhook } from "./webhook.ts";

/** All formats, by the `type` of a receiver in the file. */
export const formats = { slack, teams, googleChat, webhook, cloudEvents } as const satisfies Readonly<
  Record<string, NotificationFormat>
>;

export type ReceiverType = keyof typeof formats;

/** All types, in the order of the docs. */
export const receiverTypes = Object.keys(formats).filter((name): name is ReceiverType => Object.hasOwn(formats, name));
