import { beforeEach } from "vitest";
import { endsOfLogs } from "./wave-process.ts";

// The expectation of a test rarely explains a failure, and on a busy machine the test may never fail again.
beforeEach(({ onTestFailed }) => {
  onTestFailed(({ task }) => void process.stderr.write(`\n"${task.name}" failed; ${endsOfLogs()}\n`));
});
