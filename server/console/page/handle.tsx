import { useMovable } from './movable.ts';

interface HandleProps<T> {
  readonly class: string;
  readonly label: string;
  readonly value: T;
  /** The value for screen readers. */
  readonly text: string;
  readonly place: Readonly<Record<string, string>>;
  /** The horizontal position, from 0 to 1. */
  readonly now: number;
  readonly onMove: (from: T, dx: number, dy: number) => void;
}

/** Something on an image that users move in two directions, by pointer or arrow keys. */
export function Handle<T>({ label, value, text, place, now, onMove, ...props }: HandleProps<T>) {
  return (
    <span
      {...useMovable(value, onMove)}
      class={`handle ${props.class}`}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(100 * now)}
      aria-valuetext={text}
      style={place}
    />
  );
}
