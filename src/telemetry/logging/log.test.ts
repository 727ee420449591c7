import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { createLogger, type LoggerOptions, logLevels } from "./log.ts";

function loggerInto(lines: string[], options: Partial<LoggerOptions> = {}) {
  return createLogger({
    format: "json",
    level: "debug",
    clock: new FakeClock(),
    write: (line) => lines.push(line),
    ...options,
  });
}

describe("a JSON logger", () => {
  it("writes time, level and message, then the fields in their order", () => {
    const lines: string[] = [];
    loggerInto(lines).info("patched", { workload: "Deployment/default/web", ms: 3.5, first: true, left: undefined });
    expect(lines).toEqual([
      '{"time":"2026-01-01T00:00:00.000Z","level":"info","msg":"patched","workload":"Deployment/default/web","ms":3.5,"first":true}\n',
    ]);
  });

  it("keeps its own three fields when a caller uses their names", () => {
    const lines: string[] = [];
    loggerInto(lines).warn("true", { msg: "false", level: "none", time: "never" });
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "warn", msg: "true", msg_: "false", level_: "none" });
  });

  it("writes numbers that JSON does not know as text", () => {
    const lines: string[] = [];
    loggerInto(lines).info("x", { a: Number.NaN, b: Infinity });
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ a: "NaN", b: "Infinity" });
  });

  it("preserves every message and field, regardless of content, on one line each", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (message, value) => {
        const lines: string[] = [];
        loggerInto(lines).error(message, { value });
        expect(lines).toHaveLength(1);
        expect(lines[0]).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*\n$/u);
        expect(JSON.parse(lines[0] ?? "")).toMatchObject({ msg: message, value });
      }),
    );
  });
});

describe("a text logger", () => {
  it("is readable for a person: time, level, message, key=value, quoted if the end would be unclear", () => {
    const lines: string[] = [];
    const log = loggerInto(lines, { format: "text" });
    log.info("patched", { workload: "Deployment/default/web", why: "a key changed", n: 2, empty: "", none: undefined });
    log.error("gave up", { of: 'a="b"' });
    expect(lines).toEqual([
      '2026-01-01T00:00:00.000Z INFO  patched workload=Deployment/default/web why="a key changed" n=2 empty=""\n',
      '2026-01-01T00:00:00.000Z ERROR gave up of="a=\\"b\\""\n',
    ]);
  });

  it("lets no content start a line or control the terminal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (message, value) => {
        const lines: string[] = [];
        loggerInto(lines, { format: "text" }).info(message, { value });
        expect(lines[0]).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*\n$/u);
      }),
      {
        examples: [
          ["a\nb", "\u001b[31m"],
          ["\u202egol", "\u{e0041}"],
        ],
      },
    );
  });

  it("colors the level only if enabled", () => {
    const lines: string[] = [];
    loggerInto(lines, { format: "text", color: true }).warn("x");
    loggerInto(lines, { format: "text" }).warn("x");
    expect(lines).toEqual([
      "2026-01-01T00:00:00.000Z \u001b[33mWARN \u001b[0m x\n",
      "2026-01-01T00:00:00.000Z WARN  x\n",
    ]);
  });
});

describe("a logger's level", () => {
  it.each(logLevels.map((level, index) => ({ level, written: logLevels.slice(index) })))(
    "$level writes $written",
    ({ level, written }) => {
      const lines: string[] = [];
      const log = loggerInto(lines, { level });
      for (const each of logLevels) log[each]("x");
      expect(lines.map((line) => JSON.parse(line).level)).toEqual(written);
    },
  );
});

describe("a logger with repeated messages", () => {
  const texts = (lines: readonly string[]) => lines.map((line) => JSON.parse(line));

  it("writes 100 lines a minute of one message about one namespace, and then how many more there were", async () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const log = loggerInto(lines, { clock });
    for (let index = 0; index < 250; index++) log.warn("ignored", { namespace: "loud", index });
    log.warn("ignored", { namespace: "quiet" });
    log.error("ignored", { namespace: "loud" });
    expect(texts(lines).map(({ namespace }) => namespace)).toEqual([...Array(100).fill("loud"), "quiet", "loud"]);
    await clock.advance(60_000);
    lines.length = 0;
    log.info("something else");
    log.warn("ignored", { namespace: "loud" });
    expect(texts(lines)).toMatchObject([
      { level: "warn", msg: "suppressed 150 more lines within a minute: ignored", namespace: "loud" },
      { level: "info", msg: "something else" },
      { level: "warn", msg: "ignored", namespace: "loud" },
    ]);
  });

  it("counts messages together if there are too many different ones", async () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const log = loggerInto(lines, { clock });
    for (let index = 0; index < 5_000; index++) log.warn(`about ${index}`);
    expect(lines).toHaveLength(1_100);
    await clock.advance(60_000);
    log.info("later");
    expect(JSON.parse(lines[1_100] ?? "").msg).toBe(
      "suppressed 3900 more lines within a minute: messages of many kinds",
    );
  });

  it("writes every line at level debug", () => {
    const lines: string[] = [];
    const log = loggerInto(lines);
    for (let index = 0; index < 250; index++) log.debug("again");
    expect(lines).toHaveLength(250);
  });

  it("truncates long texts and adds the number of removed characters", () => {
    const lines: string[] = [];
    loggerInto(lines).warn("m".repeat(2_000), { name: "x".repeat(600), stack: "s".repeat(3_000), n: 1 });
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      msg: `${"m".repeat(1_000)}… and 1000 characters more`,
      name: `${"x".repeat(500)}… and 100 characters more`,
      stack: "s".repeat(3_000),
      n: 1,
    });
  });
});
