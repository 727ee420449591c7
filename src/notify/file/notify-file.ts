// The file of --notify: reads and checks receivers and their secrets. Knows formats and outcomes, not the delivery.
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseYaml, Section } from "../../lib/yaml-mapping.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { formats, receiverTypes } from "../formats/formats.ts";
import { defaultTemplate, parseTemplate } from "../notification/message-template.ts";
import { isOutcome, type NotifiedOutcome, outcomeNames } from "../notification/outcomes.ts";
import { NotifyFileError } from "./notify-file-error.ts";
import { headersOf, type SecretSources, urlOf } from "./receiver-secrets.ts";
import type { ReceiverSettings } from "./receiver-settings.ts";

/** Maximum number of receivers. Each has its own backlog. */
const maxReceivers = 50;
const defaultPerMinute = 30;

const allFields = ["name", "type", "url", "urlFile", "urlEnv", "caFile", "headers", "headerFiles"];
const moreFields = ["outcomes", "namespaces", "text", "perMinute"];

/**
 * Reads the file of `--notify`: YAML or JSON. Its relative paths start at its folder.
 * @throws NotifyFileError of one line with the file, the path of the field and the problem, without URLs or headers.
 */
export async function readNotifyFile(file: string, env: SecretSources["env"]): Promise<readonly ReceiverSettings[]> {
  const mistake = (message: string) => new NotifyFileError(`--notify: ${message}`);
  const readText = (path: string) => readFile(path, "utf8");
  const text = await readText(file).catch((error) => {
    throw mistake(`${file} cannot be read: ${errorText(error)}`);
  });
  const parsed = await parseYaml(text, (what) => mistake(`${file} ${what}`));
  const top = new Section(parsed, { file, mistake }, "");
  rejectUnknownFields(top, ["receivers"]);
  const sections = top.sections("receivers");
  if (sections.length === 0) throw top.wrong("receivers", "is missing; add at least one receiver");
  if (sections.length > maxReceivers) throw top.wrong("receivers", `has more than ${maxReceivers} entries`);
  const receivers: ReceiverSettings[] = [];
  for (const section of sections) {
    const receiver = await receiverOf(section, { env, readText });
    if (receivers.some(({ name }) => name === receiver.name))
      throw section.wrong("name", "is already the name of another receiver");
    receivers.push(receiver);
  }
  return receivers;
}

async function receiverOf(section: Section, sources: SecretSources): Promise<ReceiverSettings> {
  const type = receiverTypes.find((each) => each === section.text("type"));
  if (type === undefined) throw section.wrong("type", `must be one of ${receiverTypes.join(", ")}`);
  rejectUnknownFields(section, [...allFields, ...moreFields, ...formats[type].fields]);
  return {
    name: nameOf(section),
    type,
    url: await urlOf(section, sources),
    headers: await headersOf(section, sources),
    ca: await caOf(section, sources),
    outcomes: outcomesOf(section),
    namespaces: namespacesOf(section),
    template: templateOf(section),
    perMinute: perMinuteOf(section),
    mode: modeOf(section),
    source: section.text("source") ?? "/wave",
  };
}

function rejectUnknownFields(section: Section, allowed: readonly string[]): void {
  const other = section.names().find((name) => !allowed.includes(name));
  if (other !== undefined) throw section.wrong(JSON.stringify(other), `is not a field; use ${allowed.join(", ")}`);
}

function nameOf(section: Section): string {
  const name = section.text("name");
  if (name === undefined) throw section.wrong("name", "is missing; the log uses it to identify the receiver");
  if (!/^[A-Za-z0-9][-_.A-Za-z0-9]{0,62}$/.test(name)) {
    throw section.wrong("name", "must have at most 63 letters, digits, dashes, dots and underscores");
  }
  return name;
}

async function caOf(section: Section, { readText }: SecretSources): Promise<string | undefined> {
  const path = section.path("caFile");
  if (path === undefined) return undefined;
  const pem = await readText(path).catch((error) => {
    throw section.wrong("caFile", `cannot be read: ${errorText(error)}`);
  });
  try {
    new X509Certificate(pem);
  } catch {
    throw section.wrong("caFile", "is a file that does not start with a certificate in PEM");
  }
  return pem;
}

function outcomesOf(section: Section): ReadonlySet<NotifiedOutcome> {
  const names = section.texts("outcomes");
  const choice = `"*", ${outcomeNames.join(", ")}`;
  if (names.length === 0) throw section.wrong("outcomes", `is missing; use ${choice}`);
  const wrong = names.find((name) => name !== "*" && !isOutcome(name));
  if (wrong !== undefined) throw section.wrong("outcomes", `contains ${JSON.stringify(wrong)}; use ${choice}`);
  return new Set(names.includes("*") ? outcomeNames : names.filter(isOutcome));
}

function namespacesOf(section: Section): ReadonlySet<string> | undefined {
  const names = section.texts("namespaces");
  if (names.length === 0 && section.has("namespaces"))
    throw section.wrong("namespaces", "is empty; name a namespace, or remove the field for all namespaces");
  const wrong = names.find((name) => name !== "*" && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined)
    throw section.wrong("namespaces", `contains ${JSON.stringify(wrong)}, which is not the name of a namespace`);
  return names.length === 0 || names.includes("*") ? undefined : new Set(names);
}

function templateOf(section: Section): ReceiverSettings["template"] {
  const template = parseTemplate(section.text("text") ?? defaultTemplate);
  if (typeof template === "string") throw section.wrong("text", template);
  return template;
}

function perMinuteOf(section: Section): number {
  if (!section.has("perMinute")) return defaultPerMinute;
  const value = section.raw("perMinute");
  if (typeof value === "number" && value > 0 && value <= 6_000) return value;
  throw section.wrong("perMinute", "must be a number above 0 and at most 6000");
}

function modeOf(section: Section): ReceiverSettings["mode"] {
  const mode = section.text("mode") ?? "structured";
  if (mode === "structured" || mode === "binary") return mode;
  throw section.wrong("mode", "must be structured or binary");
}
