import { cloudEvents } from "./cloud-events.ts";
import type { Format } from "./format.ts";
import { googleChat } from "./google-chat.ts";
import { slack } from "./slack.ts";
import { teams } from "./teams.ts";
import { webhook } from "./webhook.ts";

/** Every kind of receiver, by the `type` in the file. */
export const formats = { slack, teams, googleChat, webhook, cloudEvents } as const satisfies Readonly<
  Record<string, Format>
>;

/** One of them. */
export type ReceiverType = keyof typeof formats;

/** All of them, in the order in which they are listed. */
export const receiverTypes = Object.keys(formats).filter((name): name is ReceiverType => Object.hasOwn(formats, name));
