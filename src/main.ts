// The process of the command line. Everything else is in src/cli.
import { runProcess } from "./cli/process/run-process.ts";
import { wave } from "./cli/wave.ts";

runProcess(wave);
