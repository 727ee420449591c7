/** What no hold can stop, because Kubernetes does it. The commands that hold something print one of these lines. */
export const holdLimits = {
  configMaps:
    'Without pinned configuration, mounted files and containers that start still read held changes. To pin ConfigMaps, set annotation wave.pusher.com/pin-config: "true".',
  secrets: "Mounted files and containers that start still read held changes. Wave does not pin Secrets.",
  undo: (namespace: string) =>
    `Without webhooks, kubectl rollout undo removes this hold. To keep it, hold the Namespace: wave hold namespace/${namespace}.`,
} as const;
