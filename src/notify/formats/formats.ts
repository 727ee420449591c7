// Formats: from a message to the headers and JSON of each type of receiver. Pure.
import { googleChat, slack, teams } from "./chats.ts";
import { cloudEvents } from "./cloud-events.ts";
import type { NotificationFormat } from "./format.ts";
import { webhook } from "./webhook.ts";

/** All formats, by the `type` of a receiver in the file. */
export const formats = { slack, teams, googleChat, webhook, cloudEvents } as const satisfies Readonly<
  Record<string, NotificationFormat>
>;

/** The `type` of a receiver in the file. */
export type ReceiverType = keyof typeof formats;

/** All types, in the order of the docs. */
export const receiverTypes = Object.keys(formats).filter((name): name is ReceiverType => Object.hasOwn(formats, name));
