import { errorText } from "./logging/log-messages.ts";

/** Listen address of a server. Without a host: all IPv6 and IPv4 addresses of the machine. */
interface BindAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/** Parses an address like Go: `:8080`, `localhost:8080`, `[::1]:8080`. Port 0: the kernel chooses. Undefined: the address is invalid. */
export function parseBindAddress(text: string): BindAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  return port > 65_535 ? undefined : { host: match[1] ?? (match[2] || undefined), port };
}

/** Returns the error of a server that cannot listen, in one line. It needs no cause: it has all that the original error has. */
export function listenError(address: string, flag: string, error: unknown): Error {
  return new Error(`cannot listen on ${address}: ${listenReason(error)} (${flag})`);
}

function listenReason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "EADDRINUSE") return "the port is in use";
  if (code === "EACCES") return "this user does not have permission for the port";
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return "this machine does not have that address";
  return errorText(error);
}
