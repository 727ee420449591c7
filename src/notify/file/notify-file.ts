// The file of --notify: reads and checks receivers and their secrets. Knows formats and outcomes, not the delivery.
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseYaml, Section } from "../../lib/yaml-mapping.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { type FormatSettings, formats, type ReceiverType, receiverTypes } from "../formats/formats.ts";
import { defaultTemplate, type MessageTemplate, parseTemplate } from "../notification/message-template.ts";
import { isOutcome, type NotifiedOutcome, outcomeNames } from "../notification/notification.ts";

/** The checked settings of one receiver. */
export interface ReceiverSettings extends FormatSettings {
  readonly name: string;
  readonly type: ReceiverType;
  /** Secret. Only its host is ever logged. */
  readonly url: URL;
  /** By lower-case name. Values may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates in PEM that are trusted instead of the default ones. */
  readonly ca: string | undefined;
  readonly outcomes: ReadonlySet<NotifiedOutcome>;
  /** Undefined: all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly template: MessageTemplate;
  readonly perMinute: number;
}

/** Maximum number of receivers. Each has its own backlog. */
const maxReceivers = 50;
const defaultPerMinute = 30;

const allFields = ["name", "type", "url", "urlFile", "urlEnv", "caFile", "headers", "headerFiles"];
const moreFields = ["outcomes", "namespaces", "text", "perMinute"];

/**
 * Reads the file of `--notify`: YAML or JSON. Its relative paths start at its folder.
 * @throws NotifyFileError of one line with the file, the path of the field and the problem, without URLs or headers.
 */
export async function readNotifyFile(file: string, env: Environment): Promise<readonly ReceiverSettings[]> {
  const mistake = (message: string) => new NotifyFileError(`--notify: ${message}`);
  const text = await readFile(file, "utf8").catch((error) => {
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
    const receiver = await receiverOf(section, env);
    if (receivers.some(({ name }) => name === receiver.name))
      throw section.wrong("name", "is already the name of another receiver");
    receivers.push(receiver);
  }
  return receivers;
}

async function receiverOf(section: Section, env: Environment): Promise<ReceiverSettings> {
  const type = receiverTypes.find((each) => each === section.text("type"));
  if (type === undefined) throw section.wrong("type", `must be one of ${receiverTypes.join(", ")}`);
  rejectUnknownFields(section, [...allFields, ...moreFields, ...(formats[type].fields ?? [])]);
  return {
    name: nameOf(section),
    type,
    url: await urlOf(section, env),
    headers: await headersOf(section),
    ca: await caOf(section),
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

async function caOf(section: Section): Promise<string | undefined> {
  if (section.path("caFile") === undefined) return undefined;
  const pem = await fileOf(section, "caFile");
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

function templateOf(section: Section): MessageTemplate {
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

type Environment = Readonly<Record<string, string | undefined>>;

/** Headers that the connection or the format sets. */
const reservedHeaders = ["connection", "content-length", "content-type", "host", "transfer-encoding", "upgrade"];

/** Reads the URL of a receiver: from `url`, from the file `urlFile`, or from the environment variable `urlEnv`. */
async function urlOf(section: Section, env: Environment): Promise<URL> {
  const given = ["url", "urlFile", "urlEnv"].filter((name) => section.has(name));
  const [field, other] = given;
  if (field === undefined) throw section.wrong("url", "is missing; set url, urlFile or urlEnv");
  if (other !== undefined) throw section.wrong(other, `cannot be set together with ${field}`);
  const url = URL.parse((await secretIn(section, field, env)).trim());
  if (url === null || !/^https?:$/.test(url.protocol))
    throw section.wrong(field, "is not a URL that begins with https:// or http://");
  if (url.username !== "" || url.password !== "") {
    throw section.wrong(field, "contains a user name or password; use the header Authorization instead");
  }
  return url;
}

async function secretIn(section: Section, field: string, env: Environment): Promise<string> {
  if (field === "urlFile") return fileOf(section, field);
  const text = section.text(field) ?? "";
  if (field === "url") return text;
  const value = env[text] ?? "";
  if (value === "") throw section.wrong(field, "names an environment variable that is not set");
  return value;
}

/** Reads the headers: those of `headers` as they are, and those of `headerFiles` from files. */
async function headersOf(section: Section): Promise<Readonly<Record<string, string>>> {
  const headers: Record<string, string> = {};
  for (const field of ["headers", "headerFiles"]) {
    const inside = section.section(field);
    if (inside === undefined) continue;
    for (const name of inside.names()) {
      const text = field === "headers" ? (inside.text(name) ?? "") : (await fileOf(inside, name)).trim();
      rejectInvalidHeader(inside, name, text);
      if (Object.hasOwn(headers, name.toLowerCase())) throw inside.wrong(name, "is set twice");
      headers[name.toLowerCase()] = text;
    }
  }
  return headers;
}

function rejectInvalidHeader(section: Section, name: string, value: string): void {
  // Not imported as an ES module, which would also load all that node:http offers lazily: 13 MiB.
  const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");
  if (reservedHeaders.includes(name.toLowerCase())) throw section.wrong(name, "is a header that Wave sets itself");
  try {
    validateHeaderName(name);
  } catch {
    throw section.wrong(JSON.stringify(name), "is not a valid header name");
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    throw section.wrong(name, "contains a character that is not allowed in a header");
  }
}

async function fileOf(section: Section, field: string): Promise<string> {
  const path = section.path(field);
  if (path === undefined) throw section.wrong(field, "is empty");
  return readFile(path, "utf8").catch((error) => {
    throw section.wrong(field, `cannot be read: ${errorText(error)}`);
  });
}

/** The file of `--notify` is invalid. Its one line names the place and the problem and never quotes a secret. */
export class NotifyFileError extends Error {
  override readonly name = "NotifyFileError";
}
