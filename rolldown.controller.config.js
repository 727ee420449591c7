import wave, { builtins } from "./rolldown.config.js";

/** The bundle of the image: the controller, without the other commands, the page, the demo and the sandbox. */
export default { ...wave, input: "src/controller.ts", plugins: [builtins] };
