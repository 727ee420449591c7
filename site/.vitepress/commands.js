/**
 * In a block with the language `console`, marks everything except the commands: the button of the block copies only the commands. A command that
 * does not fit on the screen is wrapped, and its output is not.
 */
export const commandsOfConsole = {
  name: "commands-of-console",
  tokens(lines) {
    if (!["console", "sh"].includes(this.options.lang)) return;
    let continues = false;
    this.meta.commands = lines.map((tokens) => {
      const line = tokens.map(({ content }) => content).join("");
      const isCommand = this.options.lang === "sh" || continues || line.startsWith("$ ");
      continues = isCommand && line.endsWith("\\");
      return isCommand;
    });
  },
  line(node, number) {
    const { commands } = this.meta;
    if (commands === undefined) return;
    this.addClassToHast(node, commands[number - 1] ? "command" : "vp-copy-ignore");
  },
  code(node) {
    // Also the break after a line of output, which is not a part of its element.
    const { commands } = this.meta;
    if (commands === undefined) return;
    let line = 0;
    for (const [index, child] of node.children.entries()) {
      if (child.type === "element") line += 1;
      else if (!commands[line])
        node.children[index] = {
          type: "element",
          tagName: "span",
          properties: { class: "vp-copy-ignore" },
          children: [child],
        };
    }
    for (const child of node.children) {
      const first = child.children?.[0]?.children?.[0];
      if (child.properties?.class?.includes?.("command") !== true || !first?.value?.startsWith("$")) continue;
      // A theme may have the prompt and its space in one token, or in two.
      const rest = first.value.slice(1);
      first.value = rest.startsWith(" ") ? rest.slice(1) : rest;
      child.children.unshift({
        type: "element",
        tagName: "span",
        properties: { class: "vp-copy-ignore" },
        children: [{ type: "text", value: "$ " }],
      });
      const next = child.children[2]?.children?.[0];
      if (rest === "" && next?.value?.startsWith(" ")) next.value = next.value.slice(1);
    }
  },
};
