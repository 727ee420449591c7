import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { BodyReader } from "./body.ts";

/** A body whose parts come when told to. */
function sender() {
  const parts: (string | Error | undefined)[] = [];
  let wake = () => {};
  async function* body() {
    for (;;) {
      while (parts.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const part = parts.shift();
      if (part === undefined) return;
      if (part instanceof Error) throw part;
      yield Buffer.from(part);
    }
  }
  const send = async (part: string | Error | undefined) => {
    parts.push(part);
    wake();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { body: Readable.from(body(), { objectMode: false }), send };
}

describe("a reader of bodies", () => {
  it("gives back a whole body, also an empty one and one of exactly the limit", async () => {
    const reader = new BodyReader({ one: 4, all: 8 });
    for (const text of ["", "a", "abcd"]) {
      const { body, send } = sender();
      const read = reader.read(body);
      for (const character of text) await send(character);
      await send(undefined);
      expect(await read).toEqual({ state: "whole", bytes: Buffer.from(text) });
    }
  });

  it("throws a body away that is larger than the limit, and holds nothing of it", async () => {
    const reader = new BodyReader({ one: 4, all: 8 });
    const [large, other] = [sender(), sender()];
    const reads = [reader.read(large.body), reader.read(other.body)];
    for (let parts = 0; parts < 10; parts++) await large.send("abc");
    await other.send("abcd");
    for (const { send } of [large, other]) await send(undefined);
    expect(await Promise.all(reads)).toEqual([{ state: "too large" }, { state: "whole", bytes: Buffer.from("abcd") }]);
  });

  it("keeps what it has when more bodies come than it may hold, and takes others when those are done", async () => {
    const reader = new BodyReader({ one: 4, all: 8 });
    const senders = [sender(), sender(), sender()];
    const reads = senders.map(({ body }) => reader.read(body));
    for (const { send } of senders) await send("abc");
    for (const { send } of senders) await send(undefined);
    expect((await Promise.all(reads)).map(({ state }) => state)).toEqual(["whole", "whole", "too many"]);
    const next = sender();
    const read = reader.read(next.body);
    await next.send("abc");
    await next.send(undefined);
    expect((await read).state).toBe("whole");
  });

  it("holds nothing of a body whose sender hung up", async () => {
    const reader = new BodyReader({ one: 4, all: 4 });
    const gone = sender();
    const broken = reader.read(gone.body);
    const failure = expect(broken).rejects.toThrow("hung up");
    await gone.send("abcd");
    await gone.send(new Error("hung up"));
    await failure;
    const next = sender();
    const read = reader.read(next.body);
    await next.send("abcd");
    await next.send(undefined);
    expect((await read).state).toBe("whole");
  });
});
