import { beforeEach } from "vitest";
import { endsOfLogs } from "./wave-process.ts";

// What a test expected is seldom enough to find out why: on a busy machine it may never fail again.
beforeEach(({ onTestFailed }) => {
  onTestFailed(({ task }) => void process.stderr.write(`\n"${task.name}" failed; ${endsOfLogs()}\n`));
});
