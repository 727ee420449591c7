import { describe, expect, it } from "vitest";
import { errorText } from "./log-messages.ts";

describe("errorText", () => {
  it("joins a message and those of its causes", () => {
    const root = new Error("connect ECONNREFUSED 127.0.0.1:6443");
    expect(errorText(new Error("cannot reach the API server", { cause: root }))).toBe(
      "cannot reach the API server: connect ECONNREFUSED 127.0.0.1:6443",
    );
  });

  it("does not repeat a cause that the message already quotes", () => {
    expect(errorText(new Error("list failed: boom", { cause: new Error("boom") }))).toBe("list failed: boom");
  });

  it("has the first of several errors, and the code of an error without a message", () => {
    const refused = Object.assign(new Error(""), { code: "ECONNREFUSED" });
    expect(errorText(new AggregateError([refused, new Error("other")]))).toBe("ECONNREFUSED");
  });

  it("ends on a cause that is its own cause", () => {
    const error = new Error("round");
    error.cause = error;
    expect(errorText(error)).toBe("round");
  });

  it.each([
    { thrown: "text", text: "text" },
    { thrown: undefined, text: "unknown error" },
    { thrown: new Error("two\n  lines"), text: "two lines" },
  ])("makes one line of $thrown", ({ thrown, text }) => {
    expect(errorText(thrown)).toBe(text);
  });
});
