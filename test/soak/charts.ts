import { escapeXml } from '../../pool/escape-xml.ts';

/** Charts as SVG. */

export interface Series {
  readonly name: string;
  /** Points in ascending order of x; NaN for an unknown y. */
  readonly points: ReadonlyArray<readonly [x: number, y: number]>;
}

export interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

export interface Chart {
  /** File name without extension. */
  readonly name: string;
  /** A heading, and details after the first comma. */
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly xTitle?: string;
  /** Labels of the x-axis; figures from 0 when not given. */
  readonly ticks?: ReadonlyArray<{ readonly at: number; readonly label: string }>;
  /** True for a logarithmic x-axis. */
  readonly logarithmic?: boolean;
}

const colours = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#17becf', '#7f7f7f'];
const pageWidth = 900;
const headHeight = 50;
const panel = { height: 200, left: 60, right: 170, top: 30, bottom: 36 };
const plotWidth = pageWidth - panel.left - panel.right;
const plotHeight = panel.height - panel.top - panel.bottom;
const gridSteps = [0, 0.25, 0.5, 0.75, 1];

const figure = (value: number): string => String(Number(value.toPrecision(4)));

/** Returns the next of 1, 2, 4, 5, 8 and 10 times a power of ten. */
function roundedUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10);
}

/** Draws panels one above another: lines, with dots for series of few points. Y-axes start at 0. */
export function drawChart(chart: Omit<Chart, 'name'>): string {
  const { title, panels } = chart;
  const [heading = '', ...details] = title.split(', ');
  const drawn = panels.map((drawnPanel, row) =>
    drawPanel(chart, drawnPanel, headHeight + row * panel.height),
  );
  const height = headHeight + panels.length * panel.height;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${pageWidth}" height="${height}" viewBox="0 0 ${pageWidth} ${height}" font-family="sans-serif" font-size="11">
<title>${escapeXml(heading)}</title>
<rect width="${pageWidth}" height="${height}" fill="white"/>
<text x="${panel.left}" y="24" font-size="15">${escapeXml(heading)}</text>
<text x="${panel.left}" y="42">${escapeXml(details.join(', '))}</text>
${drawn.join('\n')}
</svg>
`;
}

function drawPanel(chart: Omit<Chart, 'name'>, { title, series }: Panel, above: number): string {
  const { ticks, logarithmic = false, xTitle = '' } = chart;
  const points = series.flatMap((line) => line.points).filter(([, y]) => Number.isFinite(y));
  const xs = [...points.map(([x]) => x), ...(ticks ?? []).map(({ at }) => at)];
  const max = roundedUp(Math.max(0, ...points.map(([, y]) => y)));
  const last = ticks === undefined ? roundedUp(Math.max(0, ...xs)) : Math.max(...xs);
  const [top, bottom] = [above + panel.top, above + panel.top + plotHeight];
  const toY = (y: number) => (bottom - (plotHeight * y) / max).toFixed(1);
  const toX = (x: number) => {
    const first = Math.min(...xs);
    const share = logarithmic ? Math.log(x / first) / Math.log(last / first) : x / last;
    return (panel.left + plotWidth * (Number.isNaN(share) ? 0 : share)).toFixed(1);
  };
  const rows = gridSteps.map((step) => {
    const y = toY(step * max);
    return `<path d="M${panel.left} ${y}h${plotWidth}" stroke="#ddd"/><text x="${panel.left - 6}" y="${y}" dy="4" text-anchor="end" fill="#555">${figure(step * max)}</text>`;
  });
  const labels =
    ticks ?? gridSteps.map((step) => ({ at: step * last, label: figure(step * last) }));
  const columns = labels.map(({ at, label }) => {
    const x = toX(at);
    return `<path d="M${x} ${top}v${plotHeight}" stroke="#ddd"/><text x="${x}" y="${bottom + 14}" text-anchor="middle" fill="#555">${escapeXml(label)}</text>`;
  });
  const lines = series.map((line, index) => {
    const colour = colours[index % colours.length];
    const known = line.points.filter(([, y]) => Number.isFinite(y));
    const places = known.map(([x, y]) => [toX(x), toY(y)] as const);
    const dots = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="4" fill="${colour}"/>`);
    return `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.3"/>${places.length < 10 ? dots.join('') : ''}<text x="${pageWidth - panel.right + 10}" y="${top + 12 + index * 15}" fill="${colour}">${escapeXml(line.name)}</text>`;
  });
  return `<text x="${panel.left}" y="${above + 18}" font-weight="bold">${escapeXml(title)}</text>
${[...rows, ...columns, ...lines].join('\n')}
<text x="${panel.left + plotWidth / 2}" y="${bottom + 28}" text-anchor="middle">${escapeXml(xTitle)}</text>`;
}
