export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** One line a message. Neither messages nor fields may hold a value of a ConfigMap or Secret. */
export interface Logger {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
}
