/** A name, its value, and an explanation or ''. */
export type Fact = readonly [name: string, value: string, explanation: string];

export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value, explanation]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {explanation !== '' && <dd class="quiet">{explanation}</dd>}
        </div>
      ))}
    </dl>
  );
}

export interface GraphProps {
  readonly title: string;
  /** The unit of the vertical axis, such as `requests per day`; '' if `format` writes it. */
  readonly unit: string;
  /** Writes a value of the vertical axis. */
  readonly format: (value: number) => string;
  /** The ends of the horizontal axis. */
  readonly from: string;
  readonly to: string;
  /** The latest value in words. */
  readonly now: string;
  readonly more?: string;
  readonly values: readonly number[];
  /** The value at the top; the highest value by default. */
  readonly limit?: number;
}

const width = 240;
const height = 48;

/** A small graph with its axes and its latest value. */
export function Graph(props: GraphProps) {
  const { title, unit, format, from, to, now, more = '', values, limit } = props;
  const top = Math.max(limit ?? 0, ...values) || 1;
  const step = width / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) =>
      `${(index * step).toFixed(1)},${(height - 1 - (value / top) * (height - 2)).toFixed(1)}`,
  );
  const line = values.length === 1 ? [...points, `${width},${points[0]?.split(',')[1]}`] : points;
  const highest = format(top);
  return (
    <div class="graph">
      <h3>
        {title}
        {unit !== '' && <span class="unit">, {unit}</span>}
      </h3>
      <p>
        <strong>{now}</strong> <span class="quiet">{more}</span>
      </p>
      <div class="plot">
        <span class="axis-y" aria-hidden="true">
          <span>{highest}</span>
          <span>{format(0)}</span>
        </span>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title} from ${from} to ${to}, on a scale up to ${highest}`}
        >
          {line.length > 0 && (
            <>
              <polygon points={`0,${height} ${line.join(' ')} ${width},${height}`} />
              <polyline points={line.join(' ')} vector-effect="non-scaling-stroke" />
            </>
          )}
        </svg>
        <span class="axis-x" aria-hidden="true">
          <span>{from}</span>
          <span>{to}</span>
        </span>
      </div>
    </div>
  );
}
