import { formatCount, quoted, waveArguments } from "../../domain/syntax/wording.ts";
import { printable } from "../../lib/printable.ts";
import type { ObjectExplanation, ObjectReader } from "../cluster/explanation/object-explanation.ts";
import { objectName } from "../command/workload-argument.ts";
import { sentences } from "../output/sentences.ts";
import { tableLines, wrappedBehind } from "../output/table.ts";
import { keyList } from "./reference-lines.ts";

/** Returns an explanation of a ConfigMap or Secret for a person: its state, who reads it, and what an edit would do. */
export function renderObject(explanation: ObjectExplanation, width: number | undefined): string {
  const { object, readers, notOptedIn, misused, unread } = explanation;
  const wrapped = (texts: readonly string[]) => texts.flatMap((text) => wrappedBehind("", printable(text), width, 0));
  const holds = readers.filter(({ hold }) => hold !== null);
  const blocks = [
    [printable(`${object.kind} ${object.namespace}/${object.name}`)],
    wrapped([stateLine(explanation), editLine(explanation)]),
    table(explanation).map(printable),
    wrapped(holds.map((each) => `${nameIn(explanation, each)}: ${sentences(each.hold?.message ?? "")}`)),
    wrapped(notOptedIn.map((each) => `${nameIn(explanation, each)} reads it, but has not opted in.`)),
    wrapped([
      ...(misused === null ? [] : [`Warning: ${sentences(misused)}`]),
      ...unread.map((why) => `Incomplete: ${sentences(why)}`),
    ]),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line}\n`).join(""))
    .join("\n");
}

function stateLine({ state, object, holdReason }: ObjectExplanation): string {
  switch (state) {
    case "held":
      return `Changes are held${holdReason === null ? "" : `: ${quoted(holdReason)}`}. Run: wave release ${waveArguments(object)}.`;
    case "ignored":
      return "No workload tracks it, because its annotations say so.";
    case "present":
      return "Nothing on it holds its changes.";
    case "absent":
      return "It does not exist.";
    case "forbidden":
    case "unreadable":
      return "It cannot be read, so what an edit would do is unknown.";
  }
}

function editLine({ readers, state }: ObjectExplanation): string {
  if (readers.length === 0) return "No workload that opted in reads it. An edit rolls nothing.";
  const count = (...outcomes: readonly ObjectReader["edit"][]) =>
    readers.filter(({ edit }) => outcomes.includes(edit)).length;
  const readBy = `${formatCount(readers.length)} ${readers.length === 1 ? "workload that opted in reads" : "workloads that opted in read"} it.`;
  if (state === "absent") return readBy;
  const held = count("held");
  const heldBy = held === 0 ? "" : `, and ${formatCount(held)} ${held === 1 ? "is" : "are"} held`;
  return `${readBy} An edit of the keys below rolls ${formatCount(count("roll", "firstHash"))}${heldBy}.`;
}

function table(explanation: ObjectExplanation): readonly string[] {
  const { readers, state } = explanation;
  if (readers.length === 0) return [];
  const rows = readers.map((reader) => [
    nameIn(explanation, reader),
    reader.state,
    reader.keys === "all" ? "all" : keyList(reader.keys) || "-",
    reader.hold === null ? reader.edit : `held (${reader.hold.reason})`,
  ]);
  return tableLines([["WORKLOAD", "STATE", "KEYS", state === "absent" ? "NOW" : "AFTER AN EDIT"], ...rows], 2);
}

function nameIn({ object }: ObjectExplanation, each: Pick<ObjectReader, "kind" | "namespace" | "name">): string {
  return each.namespace === object.namespace ? objectName(each) : `${each.namespace}/${objectName(each)}`;
}
