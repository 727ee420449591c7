// The process of the image: the controller without the other commands.
import { runProcess } from "./cli/process/run-process.ts";
import { controller } from "./cli/run/controller.ts";

runProcess(controller);
