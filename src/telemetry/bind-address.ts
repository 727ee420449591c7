import { errorText } from "./logging/error-text.ts";

/** Where a server listens. Without a host: on every address of the machine, IPv6 and IPv4. */
export interface BindAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/**
 * Reads an address in Go's form: `:8080`, `127.0.0.1:8080`, `localhost:8080`, `[::1]:8080`. Port 0 lets the kernel
 * choose. Returns undefined where it is none.
 */
export function parseBindAddress(text: string): BindAddress | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]*)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  return port > 65_535 ? undefined : { host: match[1] ?? (match[2] || undefined), port };
}

/**
 * The error of a server that could not listen, as one line that says where, why and which flag changes it. It tells all
 * that the original does, so that is not its cause and no message says everything twice.
 */
export function listenError(address: string, flag: string, error: unknown): Error {
  return new Error(`cannot listen on ${address}: ${listenReason(error)} (${flag})`);
}

function listenReason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "EADDRINUSE") return "the port is in use";
  if (code === "EACCES") return "this user may not listen on that port";
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return "this machine does not have that address";
  return errorText(error);
}
