/** A menu that opens below its button, and closes when the focus leaves or at Escape. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

interface MenuProps {
  readonly label: string;
  /** For a label that is a sign. */
  readonly name?: string;
  readonly hint: string;
  /** The items of the open menu. `close` closes it, and the menu that it is in. */
  readonly children: (close: () => void) => ComponentChildren;
}

export function Menu({ label, name, hint, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => menu.current?.removeAttribute("open");
  const closeAll = () => {
    close();
    menu.current?.parentElement?.closest("details")?.removeAttribute("open");
  };
  return (
    <details
      ref={menu}
      class="ckv-menu"
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key === "Escape" && menu.current?.open === true) {
          event.stopPropagation();
          close();
          menu.current.querySelector("summary")?.focus();
        }
      }}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) {
          close();
        }
      }}
    >
      <summary title={hint} aria-label={name}>
        {label}
      </summary>
      <div class="ckv-menu-items">{isOpen ? children(closeAll) : null}</div>
    </details>
  );
}
