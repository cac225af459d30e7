import { useRef } from 'preact/hooks';

/** Directions of the arrow keys. */
const arrows: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Fraction of the frame per key press. */
const step = 0.01;
const largeStep = 0.1;

interface Drag<T> {
  readonly value: T;
  readonly x: number;
  readonly y: number;
  readonly frame: DOMRect;
}

/**
 * Returns the listeners of an element that users move by pointer or arrow keys within the nearest
 * `.frame`.
 *
 * @param move takes the previous value, and the movement as fractions of the frame
 */
export function useMovable<T>(value: T, move: (from: T, dx: number, dy: number) => void) {
  const drag = useRef<Drag<T> | null>(null);
  return {
    onPointerDown(event: PointerEvent) {
      const element = event.currentTarget as HTMLElement;
      const frame = element.closest('.frame')?.getBoundingClientRect();
      if (event.button !== 0 || frame === undefined) return;
      element.setPointerCapture(event.pointerId);
      element.focus();
      drag.current = { value, x: event.clientX, y: event.clientY, frame };
      // Prevent text selection and image dragging.
      event.preventDefault();
    },
    onPointerMove({ clientX, clientY }: PointerEvent) {
      if (drag.current === null) return;
      const { value: from, x, y, frame } = drag.current;
      move(from, (clientX - x) / frame.width, (clientY - y) / frame.height);
    },
    onLostPointerCapture() {
      drag.current = null;
    },
    onKeyDown(event: KeyboardEvent) {
      const arrow = arrows[event.key];
      if (arrow === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const by = event.shiftKey ? largeStep : step;
      move(value, arrow[0] * by, arrow[1] * by);
    },
  };
}
