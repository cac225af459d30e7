/** Line charts over time, one above the other, as one SVG. */

export interface Series {
  readonly name: string;
  /** One for each of the chart's times; NaN where there is none. */
  readonly values: readonly number[];
}

export interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

const width = 900;
const panelHeight = 190;
const headHeight = 50;
const margin = { left: 60, right: 170, top: 30, bottom: 26 };
const plot = {
  width: width - margin.left - margin.right,
  height: panelHeight - margin.top - margin.bottom,
};
const colours = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#17becf', '#7f7f7f'];
const horizontalLines = 4;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replace(/[&<>]/g, (found) => escapes[found] ?? '');

/**
 * @param title a heading, and what else there is to say after the first comma
 * @param timesS of the samples, ascending
 */
export function chart(title: string, timesS: readonly number[], panels: readonly Panel[]): string {
  const [heading = '', ...details] = title.split(', ');
  const height = headHeight + panels.length * panelHeight;
  const drawn = panels.map((panel, row) =>
    drawPanel(panel, timesS, headHeight + row * panelHeight),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${height}" fill="white"/>
<text x="${margin.left}" y="24" font-size="15">${escaped(heading)}</text>
<text x="${margin.left}" y="42">${escaped(details.join(', '))}</text>
${drawn.join('\n')}
</svg>
`;
}

function drawPanel({ title, series }: Panel, timesS: readonly number[], top: number): string {
  const end = timesS.at(-1) ?? 1;
  const values = series.flatMap((one) => one.values).filter(Number.isFinite);
  const most = roundedUp(Math.max(0, ...values));
  const x = (timeS: number) => margin.left + (timeS / end) * plot.width;
  const y = (value: number) => top + margin.top + plot.height * (1 - value / most);
  const grid = Array.from({ length: horizontalLines + 1 }, (_, line) => {
    const value = (most * line) / horizontalLines;
    return `<path d="M${margin.left} ${y(value).toFixed(1)}h${plot.width}" stroke="#ddd"/><text x="${margin.left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end" fill="#555">${Number(value.toPrecision(4))}</text>`;
  });
  // The thirds that the verdict compares.
  const thirds = [0, 1 / 3, 2 / 3, 1].map((share) => {
    const at = x(end * share).toFixed(1);
    return `<path d="M${at} ${top + margin.top}v${plot.height}" stroke="#bbb" stroke-dasharray="3 3"/><text x="${at}" y="${top + panelHeight - 10}" text-anchor="middle" fill="#555">${((end * share) / 60).toFixed(1)} min</text>`;
  });
  const lines = series.map((one, index) => {
    const colour = colours[index % colours.length];
    const points = one.values
      .map((value, at) => [timesS[at] ?? 0, value] as const)
      .filter(([, value]) => Number.isFinite(value))
      .map(([timeS, value]) => `${x(timeS).toFixed(1)},${y(value).toFixed(1)}`);
    const label = `<text x="${width - margin.right + 10}" y="${top + margin.top + 12 + index * 15}" fill="${colour}">${escaped(one.name)}</text>`;
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.3"/>${label}`;
  });
  return `<text x="${margin.left}" y="${top + 18}" font-weight="bold">${escaped(title)}</text>
${[...grid, ...thirds, ...lines].join('\n')}`;
}

/** The next of 1, 2, 4, 5, 8 and 10 times a power of ten. */
function roundedUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 8, 10].find((one) => one * power >= value) ?? 10;
  return step * power;
}
