import { render } from "preact";
import { secondsClock } from "./clock.ts";
import { Main } from "./page.tsx";
import { windowNavigation } from "./place.ts";
import { httpSource } from "./source/http-source.ts";

const base = new URL(".", location.href).href;
render(<Main source={httpSource(base)} navigation={windowNavigation()} now={secondsClock()} />, document.body);
