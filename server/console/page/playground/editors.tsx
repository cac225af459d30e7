import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Loaded } from '../api/image.ts';
import {
  type Area,
  areaText,
  corners,
  moveArea,
  moveCorner,
  movePoint,
  pointText,
  readArea,
  readPoint,
  type Sides,
} from './area.ts';

interface EditorProps {
  /** The image under the handles. */
  readonly picture: Loaded;
  /** The parameter's text, or ''. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

interface EditorFrameProps extends Pick<EditorProps, 'picture'> {
  readonly alt: string;
  readonly children: ComponentChildren;
}

/** An image as large as the box permits, with handles in fractions of its sides. */
function EditorFrame({ picture, alt, children }: EditorFrameProps) {
  const ratio = picture.width / picture.height;
  const frame = { aspectRatio: String(ratio), maxWidth: `calc(var(--inner) * ${ratio})` };
  return (
    <figure class="frame" style={frame}>
      <img src={picture.url ?? ''} alt={alt} draggable={false} />
      {children}
    </figure>
  );
}

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
function useMovable<T>(value: T, move: (from: T, dx: number, dy: number) => void) {
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
function Handle<T>({ label, value, text, place, now, onMove, ...props }: HandleProps<T>) {
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

interface CropEditorProps extends EditorProps {
  /** The sides of the upright source. */
  readonly source: Sides;
}

const percent = (part: number, whole: number): string => `${(100 * part) / whole}%`;

/** Shows the whole source with the area that `crop` keeps; users move the area and its corners. */
export function CropEditor({ picture, source, value, onChange }: CropEditorProps) {
  const area = readArea(value, source);
  const set = (next: Area) => onChange(areaText(next, source));
  const { left, top, width, height } = area;
  const box = {
    left: percent(left, source.width),
    top: percent(top, source.height),
    width: percent(width, source.width),
    height: percent(height, source.height),
  };
  return (
    <EditorFrame picture={picture} alt="The whole source">
      <span class="shade" aria-hidden="true">
        <span style={box} />
      </span>
      <Handle
        class="area"
        label="Crop"
        value={area}
        text={`${width} × ${height} px at ${left}, ${top}`}
        place={box}
        now={left / source.width}
        onMove={(from, dx, dy) => set(moveArea(from, dx, dy, source))}
      />
      {corners.map((corner) => {
        const x = corner.x === 'left' ? left : left + width;
        const y = corner.y === 'top' ? top : top + height;
        return (
          <Handle
            key={corner.name}
            class={`corner ${corner.x} ${corner.y}`}
            label={corner.name}
            value={area}
            text={`${x}, ${y}`}
            place={{ left: percent(x, source.width), top: percent(y, source.height) }}
            now={x / source.width}
            onMove={(from, dx, dy) => set(moveCorner(from, corner, dx, dy, source))}
          />
        );
      })}
    </EditorFrame>
  );
}

/** Shows the image before `fit=cover` cuts it, with a movable focal point. */
export function FocusEditor({ picture, value, onChange }: EditorProps) {
  const point = readPoint(value);
  const { x, y } = point;
  const percent = (fraction: number) => `${100 * fraction}%`;
  const jump = (event: MouseEvent) => {
    const { left, top, width, height } = (
      event.currentTarget as HTMLElement
    ).getBoundingClientRect();
    const [dx, dy] = [(event.clientX - left) / width, (event.clientY - top) / height];
    onChange(pointText(movePoint({ x: 0, y: 0 }, dx, dy)));
  };
  return (
    <EditorFrame picture={picture} alt="The image before it is cropped">
      {/* The point itself takes the keyboard. */}
      <span class="shade" aria-hidden="true" onClick={jump} />
      <Handle
        class="point"
        label="Focal point"
        value={point}
        text={`${Math.round(100 * x)} % from the left, ${Math.round(100 * y)} % from the top`}
        place={{ left: percent(x), top: percent(y) }}
        now={x}
        onMove={(from, dx, dy) => onChange(pointText(movePoint(from, dx, dy)))}
      />
    </EditorFrame>
  );
}
