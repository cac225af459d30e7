import t from 'tap';
import { render } from '../../../pool/rendering/render.ts';
import type { Variant } from '../../../pool/variant.ts';
import { inspected, limits } from '../rendering/drawn.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';

// Not on threads, which would block SVG in this process.
const draw = (source: Uint8Array, asked: Variant) => render(source, null, asked, limits);
const svg = (inner: string, side = 4000) =>
  shared(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${side}" height="${side}">${inner}</svg>`,
  );

const turbulence = '<filter id="f"><feTurbulence numOctaves="9"/></filter>';
const blur = '<filter id="f"><feGaussianBlur stdDeviation="3"/></filter>';
const uses = '<use href="#r"/>'.repeat(40);
const many = 200;

/** Groups that each use the one before them ten times. */
function levels(count: number, innermost: string): string {
  const level = (index: number) =>
    `<g id="l${index}">${`<use href="#l${index - 1}"/>`.repeat(10)}</g>`;
  const groups = Array.from({ length: count }, (_, index) => level(index + 1)).join('');
  return `<defs><g id="l0">${innermost}</g>${groups}</defs><use href="#l${count}"/>`;
}

/** Patterns that are each filled twice with the one before them. */
function patterns(count: number): string {
  const shape = (index: number) => `<path d="M0 0H9V9" fill="url(#p${index})"/>`;
  const pattern = (index: number) =>
    `<pattern id="p${index + 1}" width="1" height="1">${shape(index).repeat(2)}</pattern>`;
  return `${Array.from({ length: count }, (_, index) => pattern(index)).join('')}${shape(count)}`;
}

const expensive: Record<string, string> = {
  'one turbulence that is used forty times': `${turbulence}<rect id="r" width="9" height="9" filter="url(#f)"/>${uses}`,
  'a filter in a style sheet': `${turbulence}<style>g > .a:not(.b), x { filter: url(#f) }</style>${'<g><rect class="a b"/></g>'.repeat(40)}`,
  'one for all elements': `${turbulence}<style>@media print { a { b: c } } * { filter: u\\72l("#f") }</style>${'<rect/>'.repeat(40)}`,
  'one in style attributes': `${turbulence}${'<rect style="x:y; filter : /* */ url( #f )"/>'.repeat(40)}`,
  'a long list': `${blur}<rect filter="${'url(#f) '.repeat(many)}"/>`,
  'a list of functions': `<rect filter="${'blur(3px) '.repeat(many)}"/>`,
  'functions in a style sheet': `<style><![CDATA[rect { filter: ${'blur(3px) '.repeat(many)} }]]></style><rect/>`,
  'a pattern whose content has filters': `${blur}<pattern id="p"><rect filter="url(#f)"/></pattern><g fill="url(#p)">${'<rect/>'.repeat(many)}</g>`,
  'markers at all points': `${blur}<marker id="m"><rect filter="url(#f)"/></marker><path d="M0 0${' l1 1'.repeat(many)}" marker-mid="url(#m)"/>`,
  masks: `<mask id="m"><rect/></mask>${'<rect mask="url(#m)"/>'.repeat(4000)}`,
  'a large kernel': `<filter id="f"><feConvolveMatrix order="50" kernelMatrix="${'1 '.repeat(2500)}"/></filter><rect filter="url(#f)"/>`,
  'elements that use elements': levels(6, '<rect/>'),
  'patterns in patterns': patterns(40),
};

for (const [what, inner] of Object.entries(expensive)) {
  t.test(`${what}: refused before it is drawn`, async (t) => {
    await t.rejects(draw(svg(inner), variant({ width: 100 })), {
      code: 'source_too_large',
    });
  });
}

t.test('the document type is what a message tells of', async (t) => {
  const source = shared(
    '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"/>',
  );
  await t.rejects(inspected(source, 1e6), { message: /declares the XML entity a/ });
});

t.test('a document that tries the reader is judged in a bounded time', async (t) => {
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
    // Of this process alone, whatever else the machine does; to go over them twice in a quadratic
    // way would take minutes.
    const begun = process.cpuUsage();
    await inspected(svg(inner), 1e8).catch(() => {});
    const { user, system } = process.cpuUsage(begun);
    t.ok(user + system < 15_000_000, `${what}: ${user + system} us`);
  }
});

t.test('references that lead on and on are refused, not followed to the end', async (t) => {
  const groups = (count: number) =>
    Array.from(
      { length: count },
      (_, index) => `<g id="g${index}"><use href="#g${index + 1}"/></g>`,
    ).join('');
  const chain = (count: number) => svg(`<defs>${groups(count)}</defs><use href="#g0"/>`);
  await t.rejects(inspected(chain(20_000), 1e8), { code: 'source_unsupported' });
  await t.resolves(inspected(chain(200), 1e8));
});

t.test('what takes long at its size is drawn smaller', async (t) => {
  const filtered = svg(`${turbulence}<rect width="10" height="10" filter="url(#f)"/>`, 10_000);
  const facts = await inspected(filtered, 1e8);
  t.same(facts.svg, { work: 750, surfaces: 3 });
  const made = await draw(filtered, variant({ width: 10_000 }));
  t.ok(made.width >= 1900 && made.width <= 2000, `${made.width}`);
});

t.test('honest drawings are drawn as they are asked', async (t) => {
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
  const typed = shared(
    '<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
  );
  await t.resolves(draw(typed, variant()), 'a document type');
});
