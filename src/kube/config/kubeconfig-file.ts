import { readFile } from "node:fs/promises";
import { parseYaml, Section } from "../../lib/yaml-mapping.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { ClusterConfigError } from "../api/errors.ts";
import { configErrorTexts } from "./config-error-texts.ts";

/** Reads a kubeconfig file; undefined if it does not exist. @throws ClusterConfigError if it is unreadable or not YAML. */
export async function readKubeconfigFile(file: string): Promise<Section | undefined> {
  const mistake = (message: string) => new ClusterConfigError(message);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new ClusterConfigError(configErrorTexts.kubeconfigUnreadable(file, errorText(error)));
  }
  const parsed = await parseYaml(text, (what) => mistake(`kubeconfig ${file} ${what}`));
  return new Section(parsed, { file, mistake }, "");
}

/** Returns PEM from `NAME-data` in base64, otherwise from the file in `NAME`; undefined if neither is set. */
export async function readPem(section: Section, name: string): Promise<string | undefined> {
  const inline = section.text(`${name}-data`);
  if (inline !== undefined) return checkedPem(section, `${name}-data`, Buffer.from(inline, "base64").toString());
  const path = section.path(name);
  if (path === undefined) return undefined;
  const text = await readFile(path, "utf8").catch((error) => {
    throw section.wrong(name, `cannot be read: ${errorText(error)}`);
  });
  return checkedPem(section, name, text);
}

function checkedPem(section: Section, name: string, pem: string): string {
  if (pem.includes("-----BEGIN ")) return pem;
  throw section.wrong(name, name.endsWith("-data") ? "is not PEM in base64" : "is not a PEM file");
}
