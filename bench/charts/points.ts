import { colours, escaped, headHeight, leftEdge, page, pageWidth, roundedUp } from './svg.ts';

/** Points by two properties, in panels one above the other, as one SVG. */

export interface NamedPoint {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  /** Joined by a line, by ascending x. */
  readonly onFront: boolean;
}

export interface PointPanel {
  readonly title: string;
  readonly xTitle: string;
  readonly points: readonly NamedPoint[];
}

export interface PointChart {
  /** Of the file, without extension. */
  readonly name: string;
  /** A heading, and what else there is to say after the first comma. */
  readonly title: string;
  readonly panels: readonly PointPanel[];
}

const panelHeight = 250;
const margin = { right: 190, top: 30, bottom: 44 };
const plot = {
  width: pageWidth - leftEdge - margin.right,
  height: panelHeight - margin.top - margin.bottom,
};
const steps = 4;
const radius = 5;

/** Both axes begin at 0. */
export function drawPoints({ title, panels }: Omit<PointChart, 'name'>): string {
  const drawn = panels.map((panel, row) => drawPanel(panel, headHeight + row * panelHeight));
  return page(title, panels.length * panelHeight, drawn);
}

function drawPanel({ title, xTitle, points }: PointPanel, top: number): string {
  const known = points
    .map((point, index) => ({ ...point, colour: colours[index % colours.length] }))
    .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
  const mostX = roundedUp(Math.max(0, ...known.map(({ x }) => x)));
  const mostY = roundedUp(Math.max(0, ...known.map(({ y }) => y)));
  const bottom = top + margin.top + plot.height;
  const left = (x: number) => (leftEdge + (plot.width * x) / mostX).toFixed(1);
  const above = (y: number) => (bottom - (plot.height * y) / mostY).toFixed(1);
  const grid = Array.from({ length: steps + 1 }, (_, step) => {
    const [x, y] = [(mostX * step) / steps, (mostY * step) / steps];
    return `<path d="M${leftEdge} ${above(y)}h${plot.width}M${left(x)} ${bottom}v${-plot.height}" stroke="#ddd"/><text x="${leftEdge - 6}" y="${Number(above(y)) + 4}" text-anchor="end" fill="#555">${tick(y)}</text><text x="${left(x)}" y="${bottom + 15}" text-anchor="middle" fill="#555">${tick(x)}</text>`;
  });
  const front = known.filter(({ onFront }) => onFront).sort((a, b) => a.x - b.x);
  const line = front.map(({ x, y }) => `${left(x)},${above(y)}`).join(' ');
  const marks = known.map(({ name, x, y, colour }) => {
    return `<circle cx="${left(x)}" cy="${above(y)}" r="${radius}" fill="${colour}"/><text x="${Number(left(x)) + radius + 4}" y="${Number(above(y)) + 14}" fill="${colour}">${escaped(name)}</text>`;
  });
  const xLabel = `<text x="${leftEdge + plot.width / 2}" y="${bottom + 32}" text-anchor="middle">${escaped(xTitle)}</text>`;
  return [
    `<text x="${leftEdge}" y="${top + 18}" font-weight="bold">${escaped(title)}</text>`,
    ...grid,
    `<polyline points="${line}" fill="none" stroke="#333" stroke-dasharray="4 3"/>`,
    ...marks,
    xLabel,
  ].join('\n');
}

const tick = (value: number): number => Number(value.toPrecision(4));
