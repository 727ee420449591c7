import type { FormatSettings } from "../formats/format.ts";
import type { ReceiverType } from "../formats/formats.ts";
import type { MessageTemplate } from "../notification/message-template.ts";
import type { NotifiedOutcome } from "../notification/notification.ts";

/** The checked settings of one receiver. */
export interface ReceiverSettings extends FormatSettings {
  readonly name: string;
  readonly type: ReceiverType;
  /** Secret. Only its host is ever logged. */
  readonly url: URL;
  /** By lower-case name. Values may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates in PEM that are trusted instead of the default ones. */
  readonly ca: string | undefined;
  readonly outcomes: ReadonlySet<NotifiedOutcome>;
  /** Undefined: all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly template: MessageTemplate;
  readonly perMinute: number;
}
