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

/** The format of one type of receiver. */
export interface NotificationFormat {
  /** Description for the docs and for errors. */
  readonly means: string;
  /** Fields of the file that only this type has. */
  readonly fields: readonly (keyof FormatSettings)[];
  /** Escapes an untrusted text, so that the receiver shows it as plain text. Never throws. The result is at most six times as long. */
  readonly escape: (text: string) => string;
  readonly content: (message: NotificationMessage, settings: FormatSettings) => RequestContent;
}

/** The content type of plain JSON. */
export const jsonHeaders = { "content-type": "application/json" };
