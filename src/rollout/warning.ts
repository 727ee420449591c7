/** Something that a person should know about a workload and can put right. */
export interface Warning {
  /** The reason of the Event, in CamelCase. */
  readonly reason: "InvalidAnnotation" | "CrossNamespaceRefused" | "ConfigurationMissing";
  /** One line: what is wrong, where, and what to do. Never a value of a ConfigMap or Secret. */
  readonly message: string;
}
