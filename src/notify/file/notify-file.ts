import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseYaml, Section } from "../../lib/section.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { formats, receiverTypes } from "../formats/formats.ts";
import { defaultTemplate, parseTemplate } from "../notification/message-template.ts";
import { isOutcome, type NotifiedOutcome, outcomeNames } from "../notification/outcomes.ts";
import { NotifyFileError } from "./notify-file-error.ts";
import { headersOf, type SecretSources, urlOf } from "./receiver-secrets.ts";
import type { ReceiverSettings } from "./receiver-settings.ts";

/** Each has a queue of its own. */
const mostReceivers = 50;
const defaultPerMinute = 30;

const allFields = ["name", "type", "url", "urlFile", "urlEnv", "caFile", "headers", "headerFiles"];
const moreFields = ["outcomes", "namespaces", "text", "perMinute"];

/**
 * Reads the file of `--notify`: YAML or JSON. Relative paths in it are from its folder.
 * @throws NotifyFileError in one line: the file, the path of the field, what is wrong; never a URL or header.
 */
export async function readNotifyFile(file: string, env: SecretSources["env"]): Promise<readonly ReceiverSettings[]> {
  const mistake = (message: string) => new NotifyFileError(`--notify: ${message}`);
  const readText = (path: string) => readFile(path, "utf8");
  const text = await readText(file).catch((error) => {
    throw mistake(`${file} cannot be read: ${errorText(error)}`);
  });
  const parsed = await parseYaml(text, (what) => mistake(`${file} ${what}`));
  const top = new Section(parsed, { file, mistake }, "");
  refuseOthers(top, ["receivers"]);
  const sections = top.sections("receivers");
  if (sections.length === 0) throw top.wrong("receivers", "is missing: there is nobody to tell");
  if (sections.length > mostReceivers) throw top.wrong("receivers", `are more than ${mostReceivers}`);
  const receivers: ReceiverSettings[] = [];
  for (const section of sections) {
    const receiver = await receiverOf(section, { env, readText });
    if (receivers.some(({ name }) => name === receiver.name)) throw section.wrong("name", "is that of another, too");
    receivers.push(receiver);
  }
  return receivers;
}

async function receiverOf(section: Section, sources: SecretSources): Promise<ReceiverSettings> {
  const type = receiverTypes.find((each) => each === section.text("type"));
  if (type === undefined) throw section.wrong("type", `is not one of ${receiverTypes.join(", ")}`);
  refuseOthers(section, [...allFields, ...moreFields, ...formats[type].fields]);
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

function refuseOthers(section: Section, allowed: readonly string[]): void {
  const other = section.names().find((name) => !allowed.includes(name));
  if (other !== undefined) throw section.wrong(JSON.stringify(other), `is no field; there is ${allowed.join(", ")}`);
}

function nameOf(section: Section): string {
  const name = section.text("name");
  if (name === undefined) throw section.wrong("name", "is missing: it says in the log which receiver is meant");
  if (!/^[A-Za-z0-9][-_.A-Za-z0-9]{0,62}$/.test(name)) {
    throw section.wrong("name", "is not made of at most 63 letters, digits, dashes, dots and underscores");
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
    throw section.wrong("caFile", "is a file that does not begin with a certificate in PEM");
  }
  return pem;
}

function outcomesOf(section: Section): ReadonlySet<NotifiedOutcome> {
  const names = section.texts("outcomes");
  const choice = `"*", ${outcomeNames.join(", ")}`;
  if (names.length === 0) throw section.wrong("outcomes", `is missing; there is ${choice}`);
  const wrong = names.find((name) => name !== "*" && !isOutcome(name));
  if (wrong !== undefined) throw section.wrong("outcomes", `holds ${JSON.stringify(wrong)}; there is ${choice}`);
  return new Set(names.includes("*") ? outcomeNames : names.filter(isOutcome));
}

function namespacesOf(section: Section): ReadonlySet<string> | undefined {
  const names = section.texts("namespaces");
  if (names.length === 0 && section.has("namespaces"))
    throw section.wrong("namespaces", "is empty: nothing would be told");
  const wrong = names.find((name) => name !== "*" && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined)
    throw section.wrong("namespaces", `holds ${JSON.stringify(wrong)}, which names no namespace`);
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
  throw section.wrong("perMinute", "is not a number above 0, of at most 6000");
}

function modeOf(section: Section): ReceiverSettings["mode"] {
  const mode = section.text("mode") ?? "structured";
  if (mode === "structured" || mode === "binary") return mode;
  throw section.wrong("mode", "is neither structured nor binary");
}
