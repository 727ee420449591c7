import { once } from "node:events";
import { describe, expect, it } from "vitest";
import {
  added,
  breaks,
  endOfList,
  event,
  follow,
  goesOn,
  last,
  listing,
  watching,
} from "../../../test/support/kube/scripted-watch.ts";

describe("a line of a watch that is not an event", () => {
  const broken = [
    '{"type":"ADDED","object":{"metadata":{"name":"db","namespace":"a"},"data":{"password":"aHVudGVyMg=="}\n',
    "hunter2\n",
    '"hunter2"\n',
    "null\n",
    "\n",
    event("ADDED", null),
    event("ADDED", { data: { password: "aHVudGVyMg==" } }),
    event("ADDED", { metadata: null }),
    event("ERROR", null),
    '{"object":{"data":{"password":"hunter2"}}}\n',
  ];

  it("is skipped: later events arrive, and nothing is requested again", async () => {
    const { asked, told } = await follow(goesOn(...broken, endOfList("5"), ...broken, added(last, "6")));
    expect(told).toEqual(["init", "initDone", `apply ${last}`]);
    expect(asked).toHaveLength(1);
  });

  it("is logged with its length and the name of its object, and never with its content", async () => {
    const { logged } = await follow(goesOn(...broken, endOfList("5"), added(last, "6")));
    expect(logged).toHaveLength(broken.length);
    expect(logged[0]).toBe(
      `warn skipped a line of a watch that is not an event {"watch":"secrets","bytes":101,"namespace":"a","name":"db"}`,
    );
    expect(logged.join()).not.toMatch(/aHVudGVyMg|hunter2|password/);
  });

  it("does not prevent the watch from resuming at its position", async () => {
    const nameless = event("MODIFIED", { metadata: { name: "y" } });
    const { asked } = await follow(breaks(endOfList("5"), added("x", "6"), nameless, "{"), goesOn(added(last, "7")));
    expect(asked).toMatchObject([listing, watching("6")]);
  });
});

describe("events that arrive in pieces", () => {
  it("arrive complete, also if a chunk ends in the middle of a character", async () => {
    const bytes = Buffer.from(endOfList("5") + added("größe€", "6") + added(last, "7"));
    const { told } = await follow(async (response) => {
      for (const byte of bytes) if (!response.write(Buffer.of(byte))) await once(response, "drain");
    });
    expect(told).toEqual(["init", "initDone", "apply größe€", `apply ${last}`]);
  });
});
