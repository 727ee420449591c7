import theme from "vitepress/theme";
import { nextTick } from "vue";
import "./wide.css";

/** Closes all sections of the sidebar but one. */
function closeOthers(kept) {
  for (const section of document.querySelectorAll(".VPSidebarItem.level-0.collapsible:not(.collapsed)"))
    if (kept !== null && section !== kept) section.querySelector(".item").click();
}

export default {
  ...theme,
  enhanceApp(app) {
    theme.enhanceApp?.(app);
    if (import.meta.env.SSR) return;
    // One section is open at a time: the one of the page, or the one that the reader opens.
    app.router.onAfterRouteChange = () =>
      nextTick(() => closeOthers(document.querySelector(".VPSidebarItem.level-0.has-active")));
    document.addEventListener("click", ({ isTrusted, target }) => {
      const section = target.closest(".VPSidebarItem.level-0 > .item")?.parentElement;
      if (isTrusted && section !== undefined) nextTick(() => closeOthers(section));
    });
  },
};
