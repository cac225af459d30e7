import t from 'tap';
import { svg as svgOf } from '../../hostile/inputs/svgs.ts';
import { drawn } from '../rendering/drawn.ts';

const square = 'width="20" height="20"';
const [blue, clear] = [
  [0, 0, 255, 255],
  [0, 0, 0, 0],
];

/** Returns the pixel in a corner of a drawing. */
async function corner(attributes: string, inner = '<g/>') {
  return (await drawn(Buffer.from(svgOf(inner, attributes)))).at(0, 0);
}

t.test("draws the background in the root's style", async (t) => {
  const styles: readonly (readonly [string, readonly number[]])[] = [
    ['background:#0000FF;', blue],
    ['width:113px;background: blue', blue],
    ['max-width: 500px; background-color: rgb(0, 0, 255);', blue],
    ['BACKGROUND-COLOR: hsl(240 100% 50%) !important', blue],
    ['background: red; background-color: light-dark(blue, var(--ge-dark-color, #121212))', blue],
    ['background: light-dark(rgb(0, 0, 255), red)', blue],
    ['background-color: blue; background-color: calc(1px)', blue],
    ['background: transparent; background-color: transparent; color-scheme: light dark', clear],
    ['background: red; background: none', clear],
    ['background: red; background: url(#a)', clear],
    ['background: inherit; color: red', clear],
    ['background: nocolour', clear],
    ['background-image: blue', clear],
    ['background: &quot;blue', clear],
  ];
  for (const [style, expected] of styles) {
    t.same(await corner(`${square} style="${style}"`), expected, style);
  }
});

t.test('fills the area with the background, and gives it no other style', async (t) => {
  const style = 'style="background: blue"';
  const boxes = [
    'width="40" height="20" viewBox="100 50 10 10"',
    'width="20" height="40" viewBox="-5 -5 10 10" preserveAspectRatio="xMaxYMax slice"',
    'width="90" height="9" viewBox="0 0 1 300" preserveAspectRatio="none"',
    'viewBox="0 0 30 20"',
    'width="50%"',
  ];
  for (const box of boxes) {
    const { at, width, height } = await drawn(Buffer.from(svgOf('<g/>', `${box} ${style}`)));
    const corners = [at(0, 0), at(width - 1, 0), at(0, height - 1), at(width - 1, height - 1)];
    t.same(corners, [blue, blue, blue, blue], box);
  }
  const sheet =
    '<style>svg > * { fill: red !important; stroke: red !important; opacity: 0.5 !important; display: none !important }</style>';
  t.same(await corner(`${square} ${style}`, sheet), blue, 'other rules');
  const prefixed = `<a:svg xmlns:a="http://www.w3.org/2000/svg" ${square} ${style}><a:g/></a:svg>`;
  t.same((await drawn(Buffer.from(prefixed))).at(0, 0), blue, 'a prefix');
  const drawing = '<rect width="20" height="20" fill="red"/>';
  t.same(await corner(`${square} ${style}`, drawing), [255, 0, 0, 255], 'behind the drawing');
});
