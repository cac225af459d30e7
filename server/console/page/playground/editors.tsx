import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Loaded } from '../api/image.ts';
import {
  areaText,
  drawArea,
  grips,
  moveArea,
  movePoint,
  type Point,
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
const smallStep = 0.01;
const largeStep = 0.1;

interface HandleProps<T> {
  readonly class: string;
  readonly label: string;
  readonly value: T;
  /** The value for screen readers. */
  readonly text: string;
  readonly place: Readonly<Record<string, string>>;
  /** The horizontal position, from 0 to 1. */
  readonly now: number;
  /**
   * Takes the previous value, the movement as fractions of the frame, and where a pointer began.
   */
  readonly onMove: (from: T, dx: number, dy: number, start?: Point) => void;
}

/** Something on an image that users move in two directions, by pointer or arrow keys. */
function Handle<T>({ label, value, text, place, now, onMove, ...props }: HandleProps<T>) {
  const drag = useRef<((event: PointerEvent) => void) | null>(null);
  const start = (event: PointerEvent) => {
    const element = event.currentTarget as HTMLElement;
    const frame = element.closest('.frame')?.getBoundingClientRect();
    if (event.button !== 0 || frame === undefined) return;
    element.setPointerCapture(event.pointerId);
    element.focus();
    const toPoint = ({ clientX, clientY }: PointerEvent): Point => ({
      x: (clientX - frame.left) / frame.width,
      y: (clientY - frame.top) / frame.height,
    });
    const begin = toPoint(event);
    drag.current = (moved) => {
      const { x, y } = toPoint(moved);
      onMove(value, x - begin.x, y - begin.y, begin);
    };
    // Prevent text selection and image dragging.
    event.preventDefault();
  };
  const step = (event: KeyboardEvent) => {
    const arrow = arrows[event.key];
    if (arrow === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const by = event.shiftKey ? largeStep : smallStep;
    onMove(value, arrow[0] * by, arrow[1] * by);
  };
  return (
    <span
      class={`handle ${props.class}`}
      onPointerDown={start}
      onPointerMove={(event) => drag.current?.(event)}
      onLostPointerCapture={() => {
        drag.current = null;
      }}
      onKeyDown={step}
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

const percent = (fraction: number): string => `${100 * fraction}%`;

/**
 * Shows the whole source with the area that `crop` keeps; users draw the area, and move it and its
 * corners.
 */
export function CropEditor({ picture, source, value, onChange }: CropEditorProps) {
  const area = readArea(value, source);
  const { left, top, width, height } = area;
  const box = {
    left: percent(left / source.width),
    top: percent(top / source.height),
    width: percent(width / source.width),
    height: percent(height / source.height),
  };
  return (
    <EditorFrame picture={picture} alt="The whole source">
      <span class="shade" aria-hidden="true">
        <span style={box} />
      </span>
      {grips.map((grip) => {
        const isArea = grip.x === 'both';
        const x = grip.x === 'end' ? left + width : left;
        const y = grip.y === 'end' ? top + height : top;
        const corner = { left: percent(x / source.width), top: percent(y / source.height) };
        return (
          <Handle
            key={grip.name}
            class={isArea ? 'area' : 'corner'}
            label={grip.name}
            value={area}
            text={isArea ? `${width} × ${height} px at ${left}, ${top}` : `${x}, ${y}`}
            place={isArea ? box : corner}
            now={x / source.width}
            onMove={(from, dx, dy, begin) => {
              // A click moves a little too.
              const isDrawn =
                isArea &&
                begin !== undefined &&
                areaText(from, source) === '' &&
                Math.min(Math.abs(dx), Math.abs(dy)) >= smallStep;
              const next = isDrawn
                ? drawArea(begin, dx, dy, source)
                : moveArea(from, grip, dx, dy, source);
              onChange(areaText(next, source));
            }}
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
  const jump = (event: MouseEvent) => {
    const { width, height } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    onChange(pointText({ x: event.offsetX / width, y: event.offsetY / height }));
  };
  return (
    <EditorFrame picture={picture} alt="The image before it is cropped">
      {/* The point itself takes the keyboard. */}
      <span class="shade" aria-hidden="true" onClick={jump} />
      <Handle
        class="point"
        label="Focal point"
        value={point}
        text={`${Math.round(100 * x)}% from the left, ${Math.round(100 * y)}% from the top`}
        place={{ left: percent(x), top: percent(y) }}
        now={x}
        onMove={(from, dx, dy) => onChange(pointText(movePoint(from, dx, dy)))}
      />
    </EditorFrame>
  );
}
