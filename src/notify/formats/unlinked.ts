/** A text in which no client finds a URL to make a link of: whoever names an object would choose where it leads. */
export function unlinked(text: string): string {
  return text.replaceAll("://", ": //");
}
