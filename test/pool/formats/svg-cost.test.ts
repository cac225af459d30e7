import t from 'tap';
import { render } from '../../../pool/rendering/render.ts';
import type { Variant } from '../../../pool/variant.ts';
import { svg as svgOf } from '../../hostile/inputs/svgs.ts';
import { inspected, limits } from '../rendering/drawn.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';

// In this process, because threads of a pool would block SVG here.
const draw = (source: Uint8Array, asked: Variant) => render(source, null, asked, limits);
const svg = (inner: string, side = 4000) =>
  shared(svgOf(inner, `width="${side}" height="${side}"`));

const turbulence = '<filter id="f"><feTurbulence numOctaves="9"/></filter>';
t.test('the message names a declared entity', async (t) => {
  const source = shared(`<!DOCTYPE svg [<!ENTITY a "b">]>${svgOf('')}`);
  await t.rejects(inspected(source, 1e6), { message: /declares the XML entity a/ });
});

t.test('documents that are slow to parse are inspected in a bounded time', async (t) => {
  const documents: Record<string, string> = {
    'many elements': '<g/>'.repeat(400_000),
    'many prefixes': `${'<g>'.repeat(200)}${'<x xlink:href=""/>'.repeat(50_000)}${'</g>'.repeat(200)}`,
    'a style sheet of brackets': `<style>${'{('.repeat(500_000)}</style>`,
    'many rules': `<style>${'a{fill:url(#a)}'.repeat(20_000)}</style>`,
    'a chain of references': Array.from(
      { length: 1000 },
      (_, index) => `<use id="u${index}" href="#u${index + 1}"/>`,
    ).join(''),
  };
  for (const [what, inner] of Object.entries(documents)) {
    // CPU time of this process; quadratic work would take minutes.
    const begun = process.cpuUsage();
    await inspected(svg(inner), 1e8).catch(() => {});
    const { user, system } = process.cpuUsage(begun);
    t.ok(user + system < 15_000_000, `${what}: ${user + system} us`);
  }
});

t.test('long chains of references are refused', async (t) => {
  const groups = (count: number) =>
    Array.from(
      { length: count },
      (_, index) => `<g id="g${index}"><use href="#g${index + 1}"/></g>`,
    ).join('');
  const chain = (count: number) => svg(`<defs>${groups(count)}</defs><use href="#g0"/>`);
  await t.rejects(inspected(chain(20_000), 1e8), { code: 'source_unsupported' });
  await t.resolves(inspected(chain(200), 1e8));
});

t.test('an SVG with many surfaces is rasterised smaller', async (t) => {
  const steps = '<feFlood flood-color="red"/>'.repeat(253);
  const filtered = svg(
    `<filter id="f">${steps}</filter><rect width="9" height="9" filter="url(#f)"/>`,
  );
  const made = await draw(filtered, variant({ width: 4000 }));
  t.same([made.width, made.height], [724, 724]);
});

t.test('an SVG with slow filters is rasterised smaller', async (t) => {
  const filtered = svg(`${turbulence}<rect width="10" height="10" filter="url(#f)"/>`, 10_000);
  const facts = await inspected(filtered, 1e8);
  t.same(facts.svg, { work: 750, surfaces: 3 });
  const made = await draw(filtered, variant({ width: 10_000 }));
  t.ok(made.width >= 1900 && made.width <= 2000, `${made.width}`);
});

t.test('usual drawings are rasterised at the requested size', async (t) => {
  const shadow =
    '<filter id="f" x="-20%" y="-20%" width="140%" height="140%"><feDropShadow dx="2" dy="2" stdDeviation="2"/></filter>';
  const icon = (index: number) =>
    `<g transform="translate(${(index % 10) * 80} ${Math.floor(index / 10) * 80})"><rect class="icon" width="60" height="60" rx="9"/></g>`;
  const icons = Array.from({ length: 50 }, (_, index) => icon(index)).join('');
  const png = (await noise(9, 9).png().toBuffer()).toString('base64');
  const font = '@font-face { font-family: a; src: url(data:font/woff2;base64,AAAA) }';
  const drawings: Record<string, string> = {
    'fifty icons with a shadow': `${shadow}<style>.icon { filter: url(#f) }</style>${icons}`,
    'a font in the style sheet': `<style>@import url(https://example.com/a.css); ${font} rect { fill: red }</style><rect/>`,
    'an embedded picture': `<image xlink:href="data:image/png;base64,${png}" width="9" height="9"/>`,
    'symbols that are used': `<symbol id="s"><circle r="3"/></symbol>${'<use xlink:href="#s"/>'.repeat(500)}`,
    'gradients, clips and masks': `<linearGradient id="g"/><linearGradient id="h" xlink:href="#g"/><clipPath id="c"><rect/></clipPath><mask id="m" fill="#fff"><rect/></mask><g fill="url(#h)">${'<rect clip-path="url(#c)"/>'.repeat(2000)}<rect mask="url(#m)"/></g>`,
    'a marker that its own style sheet marks': `<style>path { marker-end: url(#m) }</style><marker id="m"><path d="M0 0h9"/></marker>${'<path d="M0 0h9"/>'.repeat(100)}`,
    'links and scripts': '<a href="data:text/plain,x"><script href="data:,x"/><rect/></a>',
    'metadata of other namespaces': '<x:a xmlns:x="urn:x" x:href="data:,x"><x:b/></x:a>',
  };
  for (const [what, inner] of Object.entries(drawings)) {
    const made = await draw(svg(inner, 800), variant({ width: 800 }));
    t.same([made.width, made.height], [800, 800], what);
  }
  const typed = `<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">${svgOf('', 'width="9" height="9"')}`;
  await t.resolves(draw(shared(typed), variant()), 'a document type');
});
