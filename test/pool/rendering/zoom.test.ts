import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, rendered, renderedIfLight } from './drawn.ts';
import { animation, blue, gradient, red } from './pictures.ts';

// Each pixel's colour is [2 * x, 2 * y, 0].
const source = await gradient(120, 60);

/** Returns the size of the output, and the source's area that it shows. */
async function shown(options: Partial<Variant>) {
  const { at, size } = await drawn(source, { kernel: 'nearest', ...options });
  const [first = [], last = []] = [at(0, 0), at(size[0] - 1, size[1] - 1)];
  const [left = 0, top = 0] = first.map((level) => level / 2);
  const [right = 0, bottom = 0] = last.map((level) => level / 2);
  return { size, area: [left, top, right, bottom].map(Math.round) };
}

/** The output's outer pixels show the middle of the pixels that they stand for. */
const isNear = (area: readonly number[], expected: readonly number[], width = 30) =>
  area.every((edge, index) => Math.abs(edge - (expected[index] ?? 0)) <= 2 + 60 / width);

t.test('zooms into the part that cover keeps, around the focal point', async (t) => {
  const cases: readonly (readonly [Partial<Variant>, number[], number[]])[] = [
    [{ width: 30, height: 30, zoom: 2 }, [30, 30], [45, 15, 75, 45]],
    [{ width: 30, zoom: 2 }, [30, 15], [30, 15, 90, 45]],
    [{ width: 30, height: 30, zoom: 2, position: 'northeast' }, [30, 30], [90, 0, 120, 30]],
    [{ width: 30, height: 30, zoom: 2, position: 'attention' }, [30, 30], [45, 15, 75, 45]],
    [{ width: 30, height: 30, zoom: 2, position: { x: 0.25, y: 0.5 } }, [30, 30], [15, 15, 45, 45]],
    // The output shows no more than the image, and has no more pixels.
    [{ width: 30, height: 30, zoom: 0.75 }, [30, 23], [20, 0, 100, 60]],
    [{ width: 30, height: 30, zoom: 0.1 }, [6, 3], [0, 0, 120, 60]],
    [{ zoom: 3 }, [40, 20], [40, 20, 80, 40]],
    [{ width: 60, height: 60, zoom: 4 }, [15, 15], [53, 23, 68, 38]],
    [{ width: 60, height: 60, zoom: 4, enlarge: true }, [60, 60], [53, 23, 68, 38]],
  ];
  for (const [options, size, expected] of cases) {
    const name = JSON.stringify(options);
    const output = await shown(options);
    t.same(output.size, size, name);
    t.ok(isNear(output.area, expected, size[0]), `${name} shows ${output.area}`);
  }
  const same = await rendered(source, { width: 30, height: 30, fit: 'contain', zoom: 2 });
  t.equal((await rendered(source, { width: 30, height: 30, fit: 'contain' })).etag, same.etag);
});

/** imgproxy 3, processing/prepare.go and crop.go: the result's size, for `fit` and `fill`. */
function imgproxySize(
  [across, down]: readonly [number, number],
  {
    fit,
    width = 0,
    height = 0,
    minWidth = 0,
    minHeight = 0,
  }: Record<string, number> & { fit?: number },
) {
  let shrink = 1;
  const shrinks = [across / (width || across), down / (height || down)] as const;
  if (width === 0) shrink = shrinks[1];
  else if (height === 0) shrink = shrinks[0];
  else shrink = fit === 1 ? Math.max(...shrinks) : Math.min(...shrinks);
  shrink = Math.max(1, shrink);
  if (minWidth > 0) shrink = Math.min(shrink, across / minWidth);
  if (minHeight > 0) shrink = Math.min(shrink, down / minHeight);
  const scaled = [Math.round(across / shrink), Math.round(down / shrink)] as const;
  return [Math.min(scaled[0], width || scaled[0]), Math.min(scaled[1], height || scaled[1])];
}

t.test("has imgproxy's sizes with minw and minh", async (t) => {
  for (const sides of [{ width: 40 }, { height: 40 }, { width: 40, height: 40 }, {}] as const) {
    for (const minimum of [
      { minWidth: 20 },
      { minWidth: 100 },
      { minHeight: 50 },
      { minWidth: 200, minHeight: 90 },
      { minHeight: 300 },
    ] as const) {
      for (const fit of ['inside', 'cover'] as const) {
        const { size } = await drawn(source, { ...sides, ...minimum, fit });
        const expected = imgproxySize([120, 60], {
          ...sides,
          ...minimum,
          fit: fit === 'inside' ? 1 : 0,
        });
        t.same(size, expected, `${fit} ${JSON.stringify({ ...sides, ...minimum })}`);
      }
    }
  }
  const cut = await shown({
    width: 40,
    height: 40,
    fit: 'inside',
    minHeight: 40,
    position: 'east',
  });
  t.same(cut.size, [40, 40]);
  t.ok(isNear(cut.area, [60, 0, 120, 60]), `${cut.area}`);
});

t.test('zooms every frame, and is refused in SVGs', async (t) => {
  const moving = await animation('gif', [red, blue], { width: 40, height: 20 });
  for (const options of [{ width: 10, height: 10, zoom: 2 }, { minWidth: 60 }]) {
    const { header } = await drawn(moving, { ...options, formats: ['webp'] });
    const size = 'zoom' in options ? [10, 10] : [60, 30];
    t.match(await header(), { pages: 2, width: size[0], pageHeight: size[1] });
  }
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  for (const [name, options] of Object.entries({ zoom: { zoom: 2 }, minw: { minWidth: 9 } })) {
    await t.rejects(renderedIfLight(svg, { formats: ['svg'], ...options }), {
      code: 'parameter_invalid',
      message: new RegExp(`${name}\\b`),
    });
  }
});
