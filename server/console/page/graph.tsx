interface GraphProps {
  readonly title: string;
  /** The latest value in words. */
  readonly now: string;
  readonly more?: string;
  readonly values: readonly number[];
  /** The value at the top; the highest one by default. */
  readonly limit?: number;
}

const width = 240;
const height = 48;

/** A small graph of the last minutes with its latest value. */
export function Graph({ title, now, more = '', values, limit }: GraphProps) {
  const top = Math.max(limit ?? 0, ...values, Number.MIN_VALUE);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) =>
      `${(index * step).toFixed(1)},${(height - 1 - (value / top) * (height - 2)).toFixed(1)}`,
  );
  const line = values.length === 1 ? [...points, `${width},${points[0]?.split(',')[1]}`] : points;
  return (
    <div class="graph card">
      <h3>{title}</h3>
      <p>
        <strong>{now}</strong> <span class="quiet">{more}</span>
      </p>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {line.length > 0 && (
          <>
            <polygon points={`0,${height} ${line.join(' ')} ${width},${height}`} />
            <polyline points={line.join(' ')} vector-effect="non-scaling-stroke" />
          </>
        )}
      </svg>
    </div>
  );
}
