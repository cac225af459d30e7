import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface RowsProps<T> {
  readonly label: string;
  readonly noun: string;
  readonly rows: readonly T[];
  readonly empty: T;
  readonly most: number;
  readonly onChange: (rows: readonly T[]) => void;
  readonly children: (row: T, change: (row: T) => void, index: number) => ComponentChildren;
}

/** Groups of controls that the user adds and removes; at least one remains. */
export function Rows<T>({ label, noun, rows, empty, most, onChange, children }: RowsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  /** The row to focus; a new object per change. */
  const [focus, setFocus] = useState<{ readonly index: number } | null>(null);
  useLayoutEffect(() => {
    if (focus === null) return;
    const row = list.current?.children[focus.index];
    row?.querySelector<HTMLElement>('input:not([type=search]), select, textarea')?.focus();
  }, [focus]);
  const add = () => {
    onChange([...rows, empty]);
    setFocus({ index: rows.length });
  };
  const remove = (index: number) => {
    onChange(rows.filter((_, other) => other !== index));
    setFocus({ index: Math.max(0, index - 1) });
  };
  return (
    <fieldset class="repeated">
      <legend>{label}</legend>
      <div ref={list}>
        {rows.map((row, index) => (
          <fieldset class="card" key={index}>
            <legend>
              {noun} {index + 1}
            </legend>
            {children(
              row,
              (changed) =>
                onChange(rows.map((otherRow, other) => (other === index ? changed : otherRow))),
              index,
            )}
            {rows.length > 1 && (
              <button type="button" class="small" onClick={() => remove(index)}>
                Remove
                <span class="hidden">
                  {' '}
                  {noun} {index + 1}
                </span>
              </button>
            )}
          </fieldset>
        ))}
      </div>
      {rows.length < most && (
        <button type="button" class="small" onClick={add}>
          Add a {noun.toLowerCase()}
        </button>
      )}
    </fieldset>
  );
}
