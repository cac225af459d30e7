import t from 'tap';
import { repeatedText } from '../../hostile/inputs/bytes.ts';
import { svg as svgOf } from '../../hostile/inputs/svgs.ts';
import { drawn, inspected, plain } from '../rendering/drawn.ts';

const svg = (inner: string, side = 4000) =>
  Buffer.from(svgOf(inner, `width="${side}" height="${side}"`));

t.test('the message names a declared entity', async (t) => {
  const source = Buffer.from(`<!DOCTYPE svg [<!ENTITY a "b">]>${svgOf('')}`);
  await t.rejects(inspected(source, 1e6), { message: /declares the XML entity a/ });
});

t.test('rejects embedded images that are never drawn', async (t) => {
  const bitmap = Buffer.alloc(60);
  bitmap.write('BM');
  bitmap.writeUInt32LE(40, 14);
  for (const bytes of [bitmap, Buffer.from('%PDF-1.7'), Buffer.from('text')]) {
    const image = `<image href="data:image/x;base64,${bytes.toString('base64')}"/>`;
    await t.rejects(inspected(svg(image), 1e6), {
      code: 'source_unsupported',
      message: /embeds an image/,
    });
  }
});

t.test('documents that are slow to parse are inspected in a bounded time', async (t) => {
  const documents: Record<string, string> = {
    'many elements': '<g/>'.repeat(400_000),
    'many prefixes': `${'<g>'.repeat(200)}${'<x xlink:href=""/>'.repeat(50_000)}${'</g>'.repeat(200)}`,
    'many attributes': `<g ${repeatedText(200_000, (n) => `a${n}="" `)}/>`,
    'a long data: URL': `<image href="data:,${'%41'.repeat(2_000_000)}"/>`,
  };
  for (const [what, inner] of Object.entries(documents)) {
    // CPU time of this process; quadratic work would take minutes.
    const begun = process.cpuUsage();
    await inspected(svg(inner), 1e8).catch(() => {});
    const { user, system } = process.cpuUsage(begun);
    t.ok(user + system < 15_000_000, `${what}: ${user + system} us`);
  }
});

t.test('usual drawings are rasterised at the requested size', async (t) => {
  const shadow =
    '<filter id="f" x="-20%" y="-20%" width="140%" height="140%"><feDropShadow dx="2" dy="2" stdDeviation="2"/></filter>';
  const icon = (index: number) =>
    `<g transform="translate(${(index % 10) * 80} ${Math.floor(index / 10) * 80})"><rect class="icon" width="60" height="60" rx="9"/></g>`;
  const icons = repeatedText(50, icon);
  const png = (await plain(9, 9, [9, 9, 9])).toString('base64');
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
    t.same((await drawn(svg(inner, 800), { width: 800 })).size, [800, 800], what);
  }
  const typed = `<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">${svgOf('', 'width="9" height="9"')}`;
  await t.resolves(drawn(typed), 'a document type');
});
