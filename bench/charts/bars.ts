import { escaped, headHeight, page, pageWidth } from './svg.ts';

/** One bar: how much of a goal is reached. */
export interface Bar {
  readonly label: string;
  /** 1 is the goal; more is better. */
  readonly share: number;
  /** The least and the most of the rounds. */
  readonly least: number;
  readonly most: number;
  /** What stands behind the bar. */
  readonly note: string;
}

const rowHeight = 18;
const labelWidth = 430;
const noteWidth = 150;
const plotWidth = pageWidth - labelWidth - noteWidth;
/** A longer bar would make the others unreadable. */
const longest = 2;

/** Horizontal bars beside a line at 1; bars that do not reach it are red. */
export function drawBars(title: string, bars: readonly Bar[]): string {
  const x = (share: number) => labelWidth + (Math.min(longest, share) / longest) * plotWidth;
  const rows = bars.map(({ label, share, least, most, note }, row) => {
    const top = headHeight + row * rowHeight;
    const colour = share >= 1 ? '#2ca02c' : '#d62728';
    const middle = top + rowHeight / 2;
    return `<text x="${labelWidth - 8}" y="${middle + 4}" text-anchor="end">${escaped(label)}</text><rect x="${labelWidth}" y="${top + 3}" width="${(x(share) - labelWidth).toFixed(1)}" height="${rowHeight - 6}" fill="${colour}" fill-opacity="0.75"/><path d="M${x(least).toFixed(1)} ${middle}H${x(most).toFixed(1)}" stroke="#333"/><text x="${labelWidth + plotWidth + 8}" y="${middle + 4}" fill="#555">${escaped(note)}</text>`;
  });
  const height = bars.length * rowHeight;
  const goal = `<path d="M${x(1)} ${headHeight}v${height}" stroke="#333" stroke-dasharray="4 3"/><text x="${x(1)}" y="${headHeight + height + 14}" text-anchor="middle" fill="#555">goal</text>`;
  return page(title, height + 24, [...rows, goal]);
}
