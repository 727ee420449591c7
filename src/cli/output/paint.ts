/** Select Graphic Rendition (ECMA-48): what every terminal knows. */
const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

/** How a text may look. */
export type Style = keyof typeof styles;

/** A text in a style: the same text where there are no colours. What it is given has to be printable. */
export type Paint = (style: Style | undefined, text: string) => string;

/**
 * Whether there are colours: on a terminal that knows them, unless NO_COLOR has any value (https://no-color.org).
 */
export function hasColors(
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  return isTerminal && !NO_COLOR && TERM !== "dumb";
}

/** What paints, or does not. */
export function paintOf(colors: boolean): Paint {
  return (style, text) =>
    colors && style !== undefined && text !== "" ? `\u001b[${styles[style]}m${text}\u001b[0m` : text;
}
