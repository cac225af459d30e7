import { useState } from 'preact/hooks';

interface CompareProps {
  readonly before: string | null;
  /** Determines the aspect ratio of the frame. */
  readonly after: { readonly url: string; readonly width: number; readonly height: number };
}

/** Enlarges a small result to this width, px, and other results to twice their size. */
const minWidth = 400;
const maxScale = 2;
const roomForDivider = 280;

/** Two images in one frame, separated by a slider. */
export function Compare({ before, after }: CompareProps) {
  const [percent, setPercent] = useState(50);
  const { width, height } = after;
  const ratio = width > 0 ? width / height : 1.5;
  const frame = {
    aspectRatio: String(ratio),
    maxWidth: `min(${Math.max(maxScale * width, minWidth)}px, max(${roomForDivider}px, var(--inner) * ${ratio}))`,
    '--divider': `${before === null ? 0 : percent}%`,
  };
  return (
    <figure class="compare" style={frame}>
      {before !== null && <img class="before" src={before} alt="The original" />}
      <img class="after" src={after.url} alt="The result" />
      {before !== null && (
        <>
          <input
            type="range"
            min="0"
            max="100"
            value={percent}
            aria-label="Divider between the original, left, and the result, right"
            aria-valuetext={`${percent} % original`}
            onInput={(event) => setPercent(Number(event.currentTarget.value))}
          />
          <span class="divider" aria-hidden="true" />
          <span class="tag tag-before" aria-hidden="true">
            Original
          </span>
          <span class="tag tag-after" aria-hidden="true">
            Result
          </span>
        </>
      )}
    </figure>
  );
}
