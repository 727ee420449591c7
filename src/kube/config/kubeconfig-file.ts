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
