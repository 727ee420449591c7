import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { eventually } from "../../test/support/eventually.ts";
import { temporaryFiles } from "../../test/support/kube/files.ts";
import { startEndpoint } from "../../test/support/notify/endpoint.ts";
import { rolled, startNotifier } from "../../test/support/notify/notifier.ts";
import { readNotifyFile } from "./file/notify-file.ts";
import { receiverTypes } from "./formats/formats.ts";
import { placeholders } from "./notification/message-template.ts";
import { outcomeNames, outcomes } from "./notification/notification.ts";

const page = readFileSync(new URL("../../docs/notifications.md", import.meta.url), "utf8");

/** The page with the JSON of all messages. */
const messages = readFileSync(new URL("../../contributing/messages.md", import.meta.url), "utf8");

/** Returns the first code block of a language after a text of a page. */
function blockAfter(text: string, language: string, within = page): string {
  const begin = within.indexOf(`\`\`\`${language}\n`, within.indexOf(text));
  expect(within).toContain(text);
  return within.slice(begin + language.length + 4, within.indexOf("```\n", begin + 3));
}

describe("docs/notifications.md", () => {
  it.each(receiverTypes)("shows what Wave sends to a receiver of type %s", async (type) => {
    const [example] = parse(blockAfter(`### \`${type}\``, "yaml fragment"));
    const sent = JSON.parse(blockAfter(`## \`${type}\``, "json", messages));
    const { url, received } = await startEndpoint();
    const { urlFile, headerFiles, ...rest } = example;
    expect(rest.type).toBe(type);
    const { tell } = await startNotifier({ ...rest, url });
    tell(rolled("web"));
    await eventually(() => expect(received).toHaveLength(1));
    expect(received[0]?.body).toEqual({ ...sent, ...(sent.id && { id: expect.stringMatching(/^[-0-9a-f]{36}$/) }) });
  });

  it("starts with a valid file", async () => {
    const files = {
      "notify.yaml": blockAfter("# Notifications", "yaml fragment"),
      "slack-url": "https://hooks.slack.com/services/a",
    };
    const folder = await temporaryFiles(files);
    expect((await readNotifyFile(join(folder, "notify.yaml"), {})).map(({ name }) => name)).toEqual([
      "on-call",
      "audit",
    ]);
  });

  it("lists each outcome with its reasons, each type and each placeholder", () => {
    const rows = outcomeNames.map((name) => {
      const reasons = outcomes[name].reasons.map((reason) => `\`${reason}\``).join(", ");
      return `| \`${name}\` | ${outcomes[name].means} | ${reasons} |\n`;
    });
    expect(page).toContain(`|---|---|---|\n${rows.join("")}\n`);
    expect(page).toContain(`| \`type\` | | ${receiverTypes.map((type) => `\`${type}\``).join(", ")} |`);
    for (const placeholder of placeholders)
      expect(page).toMatch(new RegExp(`\`text\` may name [^.]*\`${placeholder}\``));
  });
});
