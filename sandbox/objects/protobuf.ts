import { type Json, type JsonObject, listOf, type MutableJsonObject } from "./json.ts";
import { StatusError, unsupportedMediaType } from "./status-error.ts";

/** How the bytes of a field are read: text, base64 of bytes, a whole number, a truth value, a map of strings, a message. */
type FieldType = "string" | "bytes" | "int" | "bool" | { readonly map: "string" | "bytes" } | Message;

interface Message {
  readonly fields: { readonly [number: number]: readonly [name: string, type: FieldType, repeated?: "list"] };
}

const message = (fields: Message["fields"]): Message => ({ fields });

const metadata = message({
  1: ["name", "string"],
  2: ["generateName", "string"],
  3: ["namespace", "string"],
  11: ["labels", { map: "string" }],
  12: ["annotations", { map: "string" }],
});
const port = message({
  1: ["name", "string"],
  3: ["containerPort", "int"],
  4: ["protocol", "string"],
});
const container = message({
  1: ["name", "string"],
  2: ["image", "string"],
  3: ["command", "string", "list"],
  4: ["args", "string", "list"],
  6: ["ports", port, "list"],
});
const template = message({ 1: ["metadata", metadata], 2: ["spec", message({ 2: ["containers", container, "list"] })] });
const selector = message({ 1: ["matchLabels", { map: "string" }] });

/** What `kubectl create KIND NAME` sends, by the field numbers of the API's generated.proto files. */
const kinds: { readonly [kind: string]: Message } = {
  ConfigMap: message({
    1: ["metadata", metadata],
    2: ["data", { map: "string" }],
    3: ["binaryData", { map: "bytes" }],
    4: ["immutable", "bool"],
  }),
  Secret: message({
    1: ["metadata", metadata],
    2: ["data", { map: "bytes" }],
    3: ["type", "string"],
    4: ["stringData", { map: "string" }],
    5: ["immutable", "bool"],
  }),
  Namespace: message({ 1: ["metadata", metadata] }),
  Deployment: message({
    1: ["metadata", metadata],
    2: ["spec", message({ 1: ["replicas", "int"], 2: ["selector", selector], 3: ["template", template] })],
  }),
};

const envelope = message({
  1: ["typeMeta", message({ 1: ["apiVersion", "string"], 2: ["kind", "string"] })],
  2: ["raw", "bytes"],
});

/**
 * Reads a body in Kubernetes' protobuf encoding, for the few kinds that `kubectl create` sends so and the fields that it
 * fills. https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
 * Throws 415 for every other kind, 400 where the bytes cannot be read.
 */
export function decodeProtobuf(body: Buffer): JsonObject {
  if (body.subarray(0, 4).toString("latin1") !== "k8s\0") throw unsupportedMediaType();
  const { typeMeta, raw } = read(envelope, body.subarray(4));
  const { apiVersion, kind } = typeMeta as { apiVersion?: string; kind?: string };
  const known = kinds[kind ?? ""];
  if (known === undefined || apiVersion === undefined) throw unsupportedMediaType();
  return { apiVersion, kind, ...read(known, Buffer.from(String(raw ?? ""), "base64")) };
}

function read({ fields }: Message, bytes: Buffer): JsonObject {
  const result: MutableJsonObject = {};
  let offset = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[offset++];
      if (byte === undefined || shift > 2 ** 49) throw unreadable();
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  const chunk = (length: number): Buffer => {
    if (offset + length > bytes.length) throw unreadable();
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  while (offset < bytes.length) {
    const tag = varint();
    const wire = tag & 7;
    const value = wire === 0 ? varint() : chunk(lengthOf(wire, varint));
    const field = fields[Math.floor(tag / 8)];
    if (field === undefined) continue;
    const [name, type, repeated] = field;
    if (typeof type === "object" && "map" in type) {
      result[name] = { ...(result[name] as JsonObject | undefined), ...entry(type.map, value) };
    } else {
      const decoded = decodedValue(type, value);
      if (repeated === "list") result[name] = [...listOf(result[name]), decoded];
      // This encoding writes out empty text where JSON has no field.
      else if (decoded !== "") result[name] = decoded;
    }
  }
  return result;
}

/** The length of a value that is no number, by its wire type. */
function lengthOf(wire: number, varint: () => number): number {
  if (wire === 1) return 8;
  if (wire === 5) return 4;
  if (wire === 2) return varint();
  throw unreadable();
}

function entry(type: "string" | "bytes", value: number | Buffer): JsonObject {
  const fields = message({ 1: ["key", "string"], 2: ["value", type] });
  const { key, value: text } = read(fields, bufferOf(value));
  return { [String(key ?? "")]: text ?? "" };
}

function decodedValue(type: Exclude<FieldType, { map: unknown }>, value: number | Buffer): Json {
  if (type === "int") return Number(value);
  if (type === "bool") return value === 1;
  if (type === "string") return bufferOf(value).toString();
  if (type === "bytes") return bufferOf(value).toString("base64");
  return read(type, bufferOf(value));
}

function bufferOf(value: number | Buffer): Buffer {
  if (typeof value === "number") throw unreadable();
  return value;
}

function unreadable(): StatusError {
  return new StatusError(
    400,
    "BadRequest",
    "the request body cannot be read: it is not the protobuf that its type says",
  );
}
