import t from 'tap';
import { openContainer } from '../../../pool/formats/source-formats.ts';
import { isSvgOutput, svgOutput } from '../../../pool/rendering/encode/svg/output.ts';
import { plainVariant, type Variant } from '../../../pool/variant.ts';
import { svgAttacks } from '../../hostile/inputs/svg-attacks.ts';
import { animation, claimingPng, filled, green, noise, red } from './pictures.ts';

const source = (content: string, attributes = 'width="40" height="20"') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${content}</svg>`);

const maxPixels = 1_000_000;

async function deliver(bytes: Uint8Array, fields: Partial<Variant> = {}) {
  const variant: Variant = { ...plainVariant, formats: ['svg'], ...fields };
  const container = openContainer(bytes);
  return isSvgOutput(container, variant) ? svgOutput(container, variant, maxPixels) : null;
}

const written = async (content: string, variant: Partial<Variant> = {}, attributes?: string) =>
  String((await deliver(source(content, attributes), variant))?.body);

const refused = { code: 'source_too_large' };
const negotiated = { negotiated: true, formats: ['avif', 'svg'] } as const;

/** Returns the root's tag. */
const root = async (variant: Partial<Variant>, attributes?: string) =>
  (await written('', variant, attributes)).replace(/ xmlns="[^"]*"|[<>/]|svg/g, '').trim();

t.test('keeps drawing elements, with ids, styles, references and embedded images', async (t) => {
  const drawing = [
    '<style>.a&gt;path{fill:url(#g)}@media (width&gt;9px){.a{opacity:.5}}</style>',
    '<defs><linearGradient id="g"><stop offset="0" stop-color="red"/></linearGradient></defs>',
    '<g class="a" id="i" transform="scale(2)" style="mix-blend-mode:multiply">',
    '<path d="M0 0h9v9z" fill="url(#g)" stroke="currentColor"/></g><use href="#i" x="1"/>',
    '<text xml:space="preserve" x="1 2">a &lt; b &amp; <tspan dy="1">c</tspan></text>',
    '<rect width="9"><animate attributeName="width" values="1;9" dur="2s" repeatCount="indefinite"/></rect>',
  ].join('');
  t.match(await written(drawing), drawing, 'as it was');
  const png = `data:image/png;base64,${(await noise(2, 2).png().toBuffer()).toString('base64')}`;
  t.match(await written(`<image href="${png}" width="9" height="9"/>`), `href="${png}"`);
  const prefixed =
    '<s:svg xmlns:s="http://www.w3.org/2000/svg" width="9" height="9"><s:g id="a"/></s:svg>';
  const filter = '<filter id="f" filterUnits="userSpaceOnUse" width="9" height="9"/>';
  const print = '<style media="print">g{fill:red}</style>';
  t.match(await written(filter + print), filter + print);
  t.match(
    String((await deliver(Buffer.from(prefixed)))?.body),
    /^<svg xmlns="[^"]*" .*><g id="a"\/><\/svg>$/,
  );
});

t.test('removes everything that runs, loads or links', async (t) => {
  for (const [name, attack] of Object.entries(svgAttacks)) {
    const bytes = Buffer.from(
      attack.replaceAll('RUN', 'alert(9)').replaceAll('URL', 'https://attacker.example'),
    );
    const text = String((await deliver(bytes))?.body);
    t.notMatch(
      text,
      /alert\(9\)(?![^<]*<\/(?:desc|title|text)>)|attacker|javascript|\son\w+=|<a\b/i,
      name,
    );
    t.notMatch(text, /<(?:script|foreignObject|iframe|handler|font-face)/i, name);
    t.match(text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/, name);
  }
});

t.test("sets the outer size by w, h, fit and the project's limit", async (t) => {
  const size = 'width="40" height="20" viewBox="0 0 40 20"';
  t.equal(await root({}), size);
  t.equal(await root({}, 'viewBox="1 2 24.5 9"'), 'viewBox="1 2 24.5 9" width="24.5" height="9"');
  t.equal(await root({ width: 400 }), 'width="400" height="200" viewBox="0 0 40 20"');
  t.equal(await root({ height: 10 }), 'width="20" height="10" viewBox="0 0 40 20"');
  t.equal(await root({ maxWidth: 20 }), 'width="20" height="10" viewBox="0 0 40 20"');
  const box = { width: 100, height: 100 } as const;
  const of = 'width="100" height="100" viewBox="0 0 40 20"';
  t.equal(await root({ ...box, fit: 'cover' }), `${of} preserveAspectRatio="xMidYMid slice"`);
  t.equal(
    await root({ ...box, fit: 'contain', position: 'northwest' }),
    `${of} preserveAspectRatio="xMinYMin meet"`,
  );
  t.equal(await root({ ...box, fit: 'fill' }), `${of} preserveAspectRatio="none"`);
  t.equal(await root({ ...box, fit: 'inside' }), 'width="100" height="50" viewBox="0 0 40 20"');
  t.equal(
    await root({ width: 9 }, 'style="width:4px;fill:red" viewBox="0 0 4 4"'),
    'style="fill:red" viewBox="0 0 4 4" width="9" height="9"',
  );
  t.match(await deliver(source(''), { width: 400 }), { width: 400, height: 200 });
});

t.test('rejects operations on pixels, and negotiates another format for them', async (t) => {
  const raster = await noise(9, 9).png().toBuffer();
  const label = /^fmt=svg needs an SVG source, not (?:a )?PNG/;
  await t.rejects(deliver(raster), { code: 'source_unsupported', message: label });
  const cases: readonly (readonly [Partial<Variant>, RegExp])[] = [
    [{ blur: 2 }, /with blur,/],
    [{ crop: { left: 0, top: 0, width: 9, height: 9 } }, /with crop,/],
    [{ background: { r: 0, g: 0, b: 0, alpha: 1 } as never }, /with bg,/],
    [{ backdrop: { blur: 9 } }, /with bg,/],
    [{ rotate: 90 }, /with rotate,/],
    [{ position: 'attention' }, /with pos or fp,/],
    [{ layers: [] }, /with layer or watermark,/],
  ];
  for (const [variant, message] of cases) {
    await t.rejects(deliver(source(''), variant), { code: 'parameter_invalid', message });
    t.equal(await deliver(source(''), { ...variant, negotiated: true }), null);
  }
  t.ok(await deliver(source(''), negotiated));
  t.equal(await deliver(raster, negotiated), null);
  t.equal(await deliver(source(''), { ...negotiated, formats: ['avif'] }), null);
});

t.test('limits elements, attributes, depth and style sheets', async (t) => {
  const attributes = Array.from({ length: 120 }, (_, i) => `data-${i}=""`).join(' ');
  for (const content of [
    '<g/>'.repeat(110_000),
    `<g ${attributes}/>`,
    `<style>${'a{}'.repeat(400_000)}</style>`,
    `<text>${'>'.repeat(3_000_000)}</text>`,
    `<desc>${'x'.repeat(5_100_000)}</desc>`,
  ]) {
    await t.rejects(written(content), { code: 'source_too_large' });
  }
  await t.rejects(written('<g>'.repeat(300) + '</g>'.repeat(300)), { code: 'source_unsupported' });
});

t.test('reads hostile style sheets in linear time', async (t) => {
  const spaces = ' '.repeat(200_000);
  for (const sheet of [
    `a{fill:url(${spaces}x`,
    '@import '.repeat(25_000),
    'url('.repeat(50_000),
    `@font-face${spaces}`,
    'a'.repeat(200_000),
    `${'a'.repeat(200_000)}! b{fill:url(#a)}`,
    `a{fill:url(#${spaces}) x}`,
    `${spaces}x${spaces}{stroke-dasharray${spaces}}`,
    `@property ${spaces}`,
    `${'-'.repeat(200_000)}:`,
    'a{--b:'.repeat(25_000),
    'path(a()'.repeat(25_000),
    'cubic-bezier(0,'.repeat(25_000),
  ]) {
    t.equal(typeof (await written(`<style>${sheet}</style>`)), 'string', sheet.slice(0, 9));
  }
});

t.test('limits path characters, and negotiates another format above the limit', async (t) => {
  const path = (count: number) => `<path d="M0 0${'l1 1'.repeat(count)}"/>`;
  t.match(await written(path(490_000)), 'l1 1');
  await t.rejects(written(path(510_000)), refused);
  const uses = '<use href="#p"/>'.repeat(9);
  await t.rejects(written(`<g id="p">${path(60_000)}</g>${uses}`), refused);
  await t.rejects(written(`<polygon points="${'0 0 9 9 '.repeat(260_000)}"/>`), refused);
  t.equal(await deliver(source(path(510_000)), negotiated), null, 'negotiates another format');
});

t.test('limits the pixels of embedded images', async (t) => {
  const image = (type: string, bytes: Buffer) =>
    `<image href="data:image/${type};base64,${bytes.toString('base64')}" width="9" height="9"/>`;
  const large = filled(2_000, 1_000, 'red');
  const gif = await filled(1, 1, 'red').gif().toBuffer();
  gif.writeUInt16LE(3_000, 6);
  gif.writeUInt16LE(1_000, 8);
  const sequence = await filled(8, 8, 'red').avif().toBuffer();
  sequence.write('avis', 8);
  const size = { width: 700, height: 700 };
  const two = image('gif', await animation('gif', [red, green], size));
  const jpeg = image('jpeg', await large.jpeg().toBuffer());
  const png = image('png', claimingPng(700, 700, 1));
  for (const [few, many] of [
    [png.repeat(2), png.repeat(3)],
    [png, image('png', claimingPng(30_000, 30_000, 1))],
    [png, image('webp', await large.webp({ lossless: true }).toBuffer())],
    [png, `<filter id="f">${jpeg.replace('image', 'feImage')}</filter>`],
    [png, image('gif', gif)],
    [png, image('avif', sequence)],
    [two, two.repeat(2)],
  ] as const) {
    t.match(await written(few), few, few.slice(0, 60));
    await t.rejects(written(many), refused, many.slice(0, 60));
    t.equal(await deliver(source(many), negotiated), null, 'negotiates another format');
  }
  t.notMatch(await written(png.replace('data:', '\u00a0data:')), 'href', 'an unread image');
});

t.test('limits the elements that use elements repeat', async (t) => {
  const tenfold = (level: number, href: string) =>
    `<g id="a${level + 1}">${`<use ${href}="#a${level}"/>`.repeat(10)}</g>`;
  const nested = (levels: number, href = 'href') => {
    const groups = Array.from({ length: levels }, (_, level) => tenfold(level, href));
    return `<rect id="a0"/>${groups.join('')}<use href="#a${levels}"/>`;
  };
  t.match(await written(nested(3)), /id="a3"/);
  await t.rejects(written(nested(9)), { code: 'source_too_large' });
  const prefixed = `<g xmlns:l="http://www.w3.org/1999/xlink">${nested(9, 'l:href')}</g>`;
  await t.rejects(written(prefixed), { code: 'source_too_large' });
  await t.rejects(written(nested(9).replaceAll('"#a', '"#%61')), { code: 'source_too_large' });
  t.match(await written('<g id="a"><use href="#a"/></g>'), /use/, 'browsers ignore a circle');
  const circle = (from: number) =>
    `<g id="c${from}">${range(12)
      .map((to) => `<use href="#c${to}"/>`)
      .join('')}</g>`;
  await t.rejects(written(range(12).map(circle).join('')), refused, 'circles');
  const defs = '<defs/>'.repeat(40_000);
  t.match(
    await written(`<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>${defs}`),
    'a',
  );
  const chain = Array.from({ length: 9_000 }, (_, i) => `<use id="u${i}" href="#u${i + 1}"/>`);
  await t.rejects(
    written(chain.join('')),
    { code: 'source_too_large' },
    'without a stack overflow',
  );
});

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Definitions that each have the previous one ten times. */
const tenTimes = (name: string, property: string, levels: number) => {
  const inside = (level: number) => `<rect ${property}="url(#d${level})"/>`;
  const definition = (_: unknown, level: number) =>
    `<${name} id="d${level + 1}">${inside(level).repeat(10)}</${name}>`;
  return Array.from({ length: levels }, definition).join('') + inside(levels);
};

t.test('limits what patterns, masks, clips and markers repeat', async (t) => {
  for (const [name, property] of [
    ['pattern', 'fill'],
    ['pattern', 'stroke'],
    ['mask', 'mask'],
    ['clipPath', 'clip-path'],
  ] as const) {
    t.match(await written(tenTimes(name, property, 1)), name);
    await t.rejects(written(tenTimes(name, property, 8)), refused, `${name} in ${property}`);
  }
  const styled = tenTimes('mask', 'mask', 8).replace(/mask="(url[^"]*)"/g, 'style="mask:$1"');
  await t.rejects(written(styled), refused, 'in style attributes');
  const marked = `<path d="M0 0${' l1 1'.repeat(50)}" marker-mid="url(#d)"/>`;
  const markers = Array.from(
    { length: 6 },
    (_, level) => `<marker id="m${level + 1}">${marked.replace('#d', `#m${level}`)}</marker>`,
  );
  t.match(await written(`<marker id="d"><path/></marker>${marked}`), 'marker-mid');
  await t.rejects(written(markers.join('') + marked.replace('#d', '#m6')), refused);
});

t.test('limits repetition by inheritance and by style sheets', async (t) => {
  const pattern = `<pattern id="p">${'<rect/>'.repeat(100)}</pattern>`;
  const many = '<rect/>'.repeat(2_000);
  t.match(await written(`${pattern}<g fill="url(#p)">${'<rect/>'.repeat(100)}</g>`), 'url');
  for (const content of [
    `<g fill="url(#p)">${many}</g>`,
    `<g style="stroke:url(#p)">${many}</g>`,
    `<style>rect{fill:url(#p)}</style>${many}`,
    `<style>@media all{.a, .b{fill:url( '#p' )}}</style><g class="b">${many}</g>`,
    `<style>g{x{} fill:url(#p)}</style><g>${many}</g>`,
    `<rect fill="${'url(#q)'.repeat(70)}"/>`,
    `<g id="r">${many}</g><use href="#r" fill="url(#p)"/>`,
  ]) {
    await t.rejects(written(pattern + content), refused, content.slice(0, 60));
  }
  t.match(
    await written(`<style>.a{fill:url(#p)}</style>${pattern}<rect class="a"/>${many}`),
    /url/,
    'elements that a rule does not match',
  );
});

t.test('counts references that other syntax hides', async (t) => {
  const pattern = `<pattern id="p">${'<rect/>'.repeat(200)}</pattern>`;
  const marker = `<marker id="n">${'<rect/>'.repeat(200)}</marker>`;
  const many = '<rect/>'.repeat(300);
  const circle = (from: string, to: string) =>
    `<g id="${from}">${`<use href="#${to}"/>`.repeat(300)}</g>`;
  const points = '0 0 1 1 '.repeat(200);
  for (const content of [
    `${pattern}<style>@keyframes k{to{fill:url(#p)}}</style>${many}`,
    `${pattern}<style>@keyframes k{50%{fill:url(#p)}}</style>${many}`,
    `${pattern}<style>g{a:" .b{";fill:url(#p)}</style><g>${many}</g>`,
    `${pattern}<style>.a.b,g:hover{fill:url( '#p' )}</style>${many}`,
    `${pattern}<style>:not(a) .b{fill:url(#p)}</style><g class="a b">${many}</g>`,
    `${pattern}<g id="r">${many}</g><g style="FILL:url(#%70)"><use href="#r"/></g>`,
    `${pattern}<symbol id="r">${many}</symbol><g id="s"><use href="#r"/></g><use href="#s" fill="url(#p)"/>`,
    `${marker}<polyline points="${points}" style="MARKER-MID:url(#n)"/>`,
    `${marker}<g marker="url(#n)"><polyline points="${points}"/></g>`,
    `<pattern id="q" href="#p"/>${pattern}<g fill="url(#q)">${many}</g>`,
    `<g id="a"><use href="#b"/></g><g id="b">${many}<use href="#a"/></g>${'<use href="#a"/>'.repeat(300)}`,
    `${circle('x', 'y')}${circle('y', 'z')}${circle('z', 'x')}`,
    `<g id="a"><use href="#a"/></g><path id="p" d="M0 0${'h1'.repeat(100_000)}"/>${'<use href="#p"/>'.repeat(2_000)}`,
  ]) {
    await t.rejects(written(content), refused, content.slice(-120));
  }
  const properties = `${pattern}<style>*{--f:url(#p);--c:red}rect{fill:var(--f)}</style>`;
  t.match(await written(`${properties}<rect/>`), /<style>\*\{;--c:red\}rect/);
  t.notMatch(await written('<rect><set attributeName="fill" to="url(#p)"/></rect>'), 'url');
  const self = '<style>path{marker-end:url(#m)}</style><marker id="m"><path d="M0 0"/></marker>';
  t.match(await written(`${self}${'<path d="M0 0"/>'.repeat(900)}`), 'marker-end');
  const gradient = '<linearGradient id="g"><stop/></linearGradient>';
  t.match(await written(`${gradient}<g fill="url(#g)">${'<rect/>'.repeat(49_000)}</g>`), '#g');
});

t.test('bounds lists of references', async (t) => {
  const patterns = range(200).map((n) => `<pattern id="p${n}"/>`);
  const groups = range(200).map((n) => `<g fill="url(#p${n})">`);
  await t.rejects(written([...patterns, ...groups, '</g>'.repeat(200)].join('')), refused);
  const rule = range(70).map((n) => `rect{fill:url(#p${n})}`);
  await t.rejects(written(`<style>${rule.join('')}</style><rect/>`), refused);
  // In linear time.
  const classes = range(900).map((n) => `c${n}`);
  const rules = `.${classes.join(',.')}{${'fill:url(#a);'.repeat(50_000)}}`;
  const styled = `<g class="${classes.join(' ')}"/>`.repeat(1_000);
  await t.rejects(written(`<style>${rules}</style>${styled}`), refused);
  const numbers = `M0 0${'h1'.repeat(400_000)}`;
  const circle = `<marker id="m"><path d="${numbers}" marker-mid="url(#m)"/></marker>`;
  await t.rejects(written(`${circle}<path d="${numbers}" marker-mid="url(#m)"/>`), refused);
});

t.test('delivers only filters with bounded effects', async (t) => {
  const filter = (primitives: string, attributes = '') =>
    `<filter id="f" ${attributes}>${primitives}</filter><rect filter="url(#f)"/>`;
  const blur = '<feGaussianBlur stdDeviation="1"/>';
  const shadow = `<feGaussianBlur in="SourceAlpha" stdDeviation="2"/><feOffset dx="1" result="a"/>
    <feMerge><feMergeNode in="a"/><feMergeNode in="SourceGraphic"/></feMerge>`;
  const doubled = range(40).map((n) => `<feBlend in="r${n}" in2="r${n}" result="r${n + 1}"/>`);
  const chained = range(40).map((n) => `<feBlend in2="r${n}" result="r${n + 1}"/>`);
  for (const content of [
    filter(shadow, 'filterUnits="userSpaceOnUse" width="400" height="200"'),
    filter(
      `<feOffset result="r0"/>${'<feBlend in2="r0" result="r1"/>'.repeat(40)}`,
      'width="300%"',
    ),
    filter(blur).repeat(500),
  ]) {
    t.match(await written(content), '<filter', content.slice(0, 90));
  }
  for (const content of [
    filter('<feTurbulence numOctaves="9"/>'),
    filter('<feSpecularLighting><fePointLight z="9"/></feSpecularLighting>'),
    filter(blur, 'width="9000"'),
    filter(blur, 'height="3000%"'),
    filter(blur, 'filterUnits="userSpaceOnUse" width="1e5"'),
    filter(`<feOffset result="r0"/>${doubled.join('')}`),
    filter(`<feOffset result="r0"/>${chained.join('')}`),
    filter(`<feOffset/>${'<feMerge><feMergeNode/><feMergeNode/></feMerge>'.repeat(40)}`),
    filter('<feOffset/>'.repeat(40_000)).repeat(1) + '<g filter="url(#f)"/>'.repeat(2),
  ]) {
    await t.rejects(written(content), refused, content.slice(0, 90));
  }
  t.notMatch(await written(filter('<feImage href="#a"/>')), 'href', 'an element as an image');
});

t.test('keeps strokes, shadows, gradients and easings', async (t) => {
  const style = [
    'text-shadow:0 0 9px red',
    "d:path('M0 0L9 9')",
    'background:radial-gradient(red,blue)',
    'animation:k 1s cubic-bezier(0,2,0,1)',
    'animation-composition:add',
  ].join(';');
  const path = `<path vector-effect="non-scaling-stroke" stroke-dasharray=".1" style="${style}"/>`;
  t.match(await written(path), path);
  t.match(await written(`<style>path{${style}}</style>`), style);
});
