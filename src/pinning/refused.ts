import type { refusalOf } from "../kube/api/api-failure.ts";

/** Pods cannot read a copy. `why` is one clause without a final period. */
export interface Refused {
  readonly type: "refused";
  readonly why: string;
}

/** Returns that Pods cannot read a copy. */
export function refused(why: string): Refused {
  return { type: "refused", why };
}

/** Returns that a write of a copy was refused. Of the message, only a quota is quoted: the text of an admission plugin may contain values. */
export function refusedWrite(what: string, { type, error }: NonNullable<ReturnType<typeof refusalOf>>): Refused {
  const { reason, status, serverMessage } = error;
  const quota = type === "forbidden" ? /exceeded quota: [^"\n]*/.exec(serverMessage)?.[0].trim() : undefined;
  return refused(`${what}: ${quota ?? (reason === "" ? `status ${status}` : `${reason} (${status})`)}`);
}
