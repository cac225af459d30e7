import {
  type Area,
  areaText,
  corners,
  moveArea,
  moveCorner,
  readArea,
  type Sides,
} from './area.ts';
import { EditorFrame, type EditorProps } from './editor-frame.tsx';
import { Handle } from './handle.tsx';

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
