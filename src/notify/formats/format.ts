import type { Message } from "../notification/notification.ts";

/** What a request carries. */
export interface Content {
  readonly headers: Readonly<Record<string, string>>;
  /** To be sent as JSON. */
  readonly body: object;
}

/** What a receiver says besides, each with its default; checked when the file is read. */
export interface FormatSettings {
  readonly mode: "structured" | "binary";
  readonly source: string;
}

/** How one kind of receiver is told. */
export interface Format {
  /** For the docs and for errors. */
  readonly means: string;
  /** The fields that only this kind has. */
  readonly fields: readonly (keyof FormatSettings)[];
  /** Makes a text that strangers may have written mere text there. Never throws; at most six times as long. */
  readonly asText: (text: string) => string;
  readonly content: (message: Message, settings: FormatSettings) => Content;
}

/** The content type of plain JSON. */
export const json = { "content-type": "application/json" };
