/** Returns the 16 bytes of an IPv6 address as a URL writes it: without an IPv4 part, and with at most one `::`. */
export function ipv6Bytes(address: string): readonly number[] {
  const [head = "", tail] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [first, last] = [groups(head), groups(tail ?? "")];
  const middle: number[] = new Array(8 - first.length - last.length).fill(0);
  return [...first, ...middle, ...last].flatMap((group) => [group >> 8, group & 0xff]);
}
