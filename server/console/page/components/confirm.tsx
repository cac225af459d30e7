import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface ConfirmProps {
  /** The verb, such as Delete. */
  readonly verb: string;
  /** The item that the action affects. */
  readonly object: string;
  /** The action's effect. */
  readonly consequence: ComponentChildren;
  readonly onConfirm: () => void;
  /** Shows the item on the button too; by default only screen readers read it. */
  readonly isAlone?: boolean;
}

/**
 * A button that asks before it acts. Focuses the choice that cancels, and then the button again.
 */
export function Confirm({ verb, object, consequence, onConfirm, isAlone = false }: ConfirmProps) {
  const [isAsking, setAsking] = useState<boolean | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  // Do not focus on page load.
  useLayoutEffect(() => {
    if (isAsking !== null) button.current?.focus();
  }, [isAsking]);
  const size = isAlone ? undefined : 'small';
  if (isAsking !== true) {
    return (
      <button ref={button} type="button" class={size} onClick={() => setAsking(true)}>
        {verb}
        <span class={isAlone ? undefined : 'hidden'}> {object} …</span>
      </button>
    );
  }
  const confirm = () => {
    setAsking(false);
    onConfirm();
  };
  return (
    <span class="row">
      <span>{consequence}</span>
      <button type="button" class={size} onClick={confirm}>
        {verb} {object}
      </button>
      <button ref={button} type="button" class={size} onClick={() => setAsking(false)}>
        Cancel
      </button>
    </span>
  );
}
