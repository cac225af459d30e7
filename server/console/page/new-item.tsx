import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Schema, Values } from './schema.ts';
import { SchemaForm } from './schema-form.tsx';

interface NewItemProps {
  /** Such as key. */
  readonly noun: string;
  readonly submit: string;
  readonly schema: Schema;
  readonly initial?: Values;
  /** Whether the button works yet. */
  readonly isReady?: boolean;
  readonly onOpen?: () => void;
  readonly onCreate: (body: object) => Promise<void>;
}

/** A button that opens a form for a new item. It takes the focus back when the user cancels. */
export function NewItem({ noun, isReady = true, onOpen, onCreate, ...form }: NewItemProps) {
  const [isOpen, setOpen] = useState<boolean | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (isOpen === false) button.current?.focus();
  }, [isOpen]);
  const title = `New ${noun}`;
  const open = () => {
    if (!isReady) return;
    onOpen?.();
    setOpen(true);
  };
  if (isOpen !== true) {
    return (
      <p>
        <button ref={button} type="button" class="primary" aria-disabled={!isReady} onClick={open}>
          {title}
        </button>
      </p>
    );
  }
  const create = async (body: object) => {
    await onCreate(body);
    setOpen(null);
    return '';
  };
  return (
    <section class="card narrow" aria-label={title}>
      <h2>{title}</h2>
      <SchemaForm {...form} label={title} onSubmit={create} onCancel={() => setOpen(false)} />
    </section>
  );
}
