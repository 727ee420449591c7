import { useSignal } from "@preact/signals";
import { usePage } from "../context.ts";

/** The time for which the button shows that it copied, in milliseconds. */
const shownMs = 2000;

/** Shows a command with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  const { announce } = usePage();
  const label = useSignal("Copy");
  const copy = async () => {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    label.value = isCopied ? "Copied" : "Not copied";
    announce(isCopied ? "Copied the command." : "The browser did not copy the command. Select it and copy it.");
    setTimeout(() => {
      label.value = "Copy";
    }, shownMs);
  };
  return (
    <span class="command">
      <code>{text}</code>
      <button type="button" aria-label={`Copy: ${text}`} onClick={() => void copy()}>
        {label}
      </button>
    </span>
  );
}
