import { colours, escaped, headHeight, leftEdge, page, pageWidth, roundedUp } from './svg.ts';

/** Line charts over one axis, one above the other, as one SVG. */

export interface Series {
  readonly name: string;
  /** One for each of the chart's positions; NaN where there is none. */
  readonly values: readonly number[];
}

export interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

export interface Chart {
  /** Of the file, without extension. */
  readonly name: string;
  /** A heading, and what else there is to say after the first comma. */
  readonly title: string;
  readonly axis: Axis;
  readonly panels: readonly Panel[];
}

export interface Axis {
  /** Of the values, ascending. */
  readonly positions: readonly number[];
  readonly ticks: ReadonlyArray<{ readonly at: number; readonly label: string }>;
  /** Logarithmic from the first position, otherwise linear from 0. */
  readonly logarithmic?: boolean;
}

const panelHeight = 190;
const margin = { left: leftEdge, right: 170, top: 30, bottom: 26 };
const plot = {
  width: pageWidth - margin.left - margin.right,
  height: panelHeight - margin.top - margin.bottom,
};
const horizontalLines = 4;

export function drawLines({ title, axis, panels }: Omit<Chart, 'name'>): string {
  const drawn = panels.map((panel, row) => drawPanel(panel, axis, headHeight + row * panelHeight));
  return page(title, panels.length * panelHeight, drawn);
}

function drawPanel({ title, series }: Panel, axis: Axis, top: number): string {
  const values = series.flatMap((one) => one.values).filter(Number.isFinite);
  const most = roundedUp(Math.max(0, ...values));
  const x = scaleOf(axis);
  const y = (value: number) => top + margin.top + plot.height * (1 - value / most);
  const grid = Array.from({ length: horizontalLines + 1 }, (_, line) => {
    const value = (most * line) / horizontalLines;
    return `<path d="M${margin.left} ${y(value).toFixed(1)}h${plot.width}" stroke="#ddd"/><text x="${margin.left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end" fill="#555">${Number(value.toPrecision(4))}</text>`;
  });
  const ticks = axis.ticks.map(({ at, label }) => {
    const left = x(at).toFixed(1);
    return `<path d="M${left} ${top + margin.top}v${plot.height}" stroke="#bbb" stroke-dasharray="3 3"/><text x="${left}" y="${top + panelHeight - 10}" text-anchor="middle" fill="#555">${escaped(label)}</text>`;
  });
  const lines = series.map((one, index) => {
    const colour = colours[index % colours.length];
    const points = one.values
      .map((value, at) => [axis.positions[at] ?? 0, value] as const)
      .filter(([, value]) => Number.isFinite(value))
      .map(([position, value]) => `${x(position).toFixed(1)},${y(value).toFixed(1)}`);
    const label = `<text x="${pageWidth - margin.right + 10}" y="${top + margin.top + 12 + index * 15}" fill="${colour}">${escaped(one.name)}</text>`;
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.3"/>${label}`;
  });
  return `<text x="${margin.left}" y="${top + 18}" font-weight="bold">${escaped(title)}</text>
${[...grid, ...ticks, ...lines].join('\n')}`;
}

function scaleOf({ positions, logarithmic }: Axis): (position: number) => number {
  const [first, end] = [positions[0] ?? 1, positions.at(-1) ?? 1];
  const share = (position: number) => {
    if (!logarithmic) return position / end;
    return first === end ? 0 : Math.log(position / first) / Math.log(end / first);
  };
  return (position) => margin.left + share(position) * plot.width;
}
