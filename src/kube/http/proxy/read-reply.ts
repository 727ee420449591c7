import type { Socket } from "node:net";

/** Maximum reply of a proxy, in bytes. */
const maxReplyBytes = 16 * 1024;

/**
 * Returns the first bytes of a socket, as many as `length` finds in the bytes so far; it returns undefined if it needs more. The
 * bytes after them stay in the socket. Rejects if the socket ends before, or the reply is too long.
 */
export async function readReply(socket: Socket, length: (bytes: Buffer) => number | undefined): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const needed = length(bytes);
    if (needed !== undefined && needed <= bytes.length) {
      if (needed < bytes.length) socket.unshift(bytes.subarray(needed));
      return bytes.subarray(0, needed);
    }
    if (bytes.length > maxReplyBytes) throw new Error("its response is too long");
    bytes = Buffer.concat([bytes, await nextChunk(socket)]);
  }
}

function nextChunk(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      const chunk: Buffer | null = socket.read();
      if (chunk !== null) return done(() => resolve(chunk));
      if (socket.readableEnded || socket.destroyed) done(() => reject(new Error("it closed the connection")));
    };
    const fail = (error: Error) => done(() => reject(error));
    const done = (act: () => void) => {
      socket.off("readable", settle).off("end", settle).off("close", settle).off("error", fail);
      act();
    };
    socket.on("readable", settle).on("end", settle).on("close", settle).on("error", fail);
    settle();
  });
}
