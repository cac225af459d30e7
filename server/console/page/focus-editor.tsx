import { movePoint, pointText, readPoint } from './area.ts';
import { EditorFrame, type EditorProps } from './editor-frame.tsx';
import { Handle } from './handle.tsx';

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
