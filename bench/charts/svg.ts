/** What all charts share: a page with a heading, its colours and the ends of its scales. */

export const colours = [
  '#1f77b4',
  '#d62728',
  '#2ca02c',
  '#9467bd',
  '#ff7f0e',
  '#17becf',
  '#7f7f7f',
];
export const pageWidth = 900;
export const headHeight = 50;
export const leftEdge = 60;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
export const escaped = (text: string): string =>
  text.replace(/[&<>]/g, (found) => escapes[found] ?? '');

/**
 * @param title a heading, and what else there is to say after the first comma
 * @param height of the content
 */
export function page(title: string, height: number, content: readonly string[]): string {
  const [heading = '', ...details] = title.split(', ');
  const whole = headHeight + height;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${pageWidth}" height="${whole}" viewBox="0 0 ${pageWidth} ${whole}" font-family="sans-serif" font-size="11">
<title>${escaped(heading)}</title>
<rect width="${pageWidth}" height="${whole}" fill="white"/>
<text x="${leftEdge}" y="24" font-size="15">${escaped(heading)}</text>
<text x="${leftEdge}" y="42">${escaped(details.join(', '))}</text>
${content.join('\n')}
</svg>
`;
}

/** The next of 1, 2, 4, 5, 8 and 10 times a power of ten. */
export function roundedUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 8, 10].find((one) => one * power >= value) ?? 10;
  return step * power;
}
