import type { FormatSettings } from "../formats/format.ts";
import type { ReceiverType } from "../formats/formats.ts";
import type { Template } from "../notification/message-template.ts";
import type { NotifiedOutcome } from "../notification/outcomes.ts";

/** Whom to tell what, checked. */
export interface ReceiverSettings extends FormatSettings {
  readonly name: string;
  readonly type: ReceiverType;
  /** A secret: only its host is ever shown. */
  readonly url: URL;
  /** By lower-case names; values may be secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates in PEM that are trusted instead of the usual ones. */
  readonly ca: string | undefined;
  readonly outcomes: ReadonlySet<NotifiedOutcome>;
  /** Undefined: all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly template: Template;
  readonly perMinute: number;
}
