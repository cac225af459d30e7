import t from 'tap';
import { openContainer } from '../../../pool/formats/source-formats.ts';
import { svgOutput } from '../../../pool/rendering/encode/svg/output.ts';
import { plainVariant, type Variant } from '../../../pool/variant.ts';
import { svgAttacks } from '../../hostile/inputs/svg-attacks.ts';
import { animation, claimingPng, filled, green, noise, red } from './pictures.ts';

const source = (content: string, attributes = 'width="40" height="20"') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${content}</svg>`);

const stroked = 'width="40" height="20" stroke="red"';

const maxPixels = 1_000_000;

const deliver = (bytes: Uint8Array, variant: Partial<Variant> = {}) =>
  svgOutput(openContainer(bytes), { ...plainVariant, formats: ['svg'], ...variant }, maxPixels);

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
  const label = /^fmt=svg needs an SVG as the source, and not (?:a )?PNG/;
  await t.rejects(deliver(raster), { code: 'source_unsupported', message: label });
  const cases: readonly (readonly [Partial<Variant>, RegExp])[] = [
    [{ blur: 2 }, /with blur,/],
    [{ crop: { left: 0, top: 0, width: 9, height: 9 } }, /with crop,/],
    [{ background: { r: 0, g: 0, b: 0, alpha: 1 } as never }, /with bg,/],
    [{ rotate: 90 }, /with rotate,/],
    [{ position: 'attention' }, /with this pos or fp,/],
    [{ layers: [] }, /with a layer or watermark,/],
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

t.test('limits shapes, coordinates, texts and images', async (t) => {
  const path = (data: string) => `<path stroke-linejoin="round" d="M0 0${data}"/>`;
  const star =
    '<polygon points="500 20 782 888 44 352 956 352 218 888" stroke="red" stroke-width="300"/>';
  const curve = '<path d="M0 0C1000 1000 1000 0 0 1000" stroke="red" stroke-width="900"/>';
  const zigzags = 'L900 900L0 0'.repeat(30_000);
  const page = '<rect width="100%" height="100%" fill-opacity=".1"/>';
  const image = `data:image/png;base64,${(await noise(2, 2).png().toBuffer()).toString('base64')}`;
  const copies = (count: number) =>
    `<image id="i" href="${image}"/>${'<use href="#i"/>'.repeat(count)}`;
  const animation = '<animate attributeName="x" values="1;9"/>';
  for (const [few, many] of [
    [path('l1 1'.repeat(100_000)), path('l1 1'.repeat(300_000))],
    [path('L900 900L0 0'.repeat(5_000)), path(zigzags)],
    [path(`${'l1 1'.repeat(50_000)}z`), path(`${zigzags}X M9e9 9e9`)],
    [path('l1 1'.repeat(9_000)), path(`${zigzags}M9e9 9e9L0 0`)],
    [path('L9 9'.repeat(1_000)), path(`${zigzags}L5. 5M9e9 9e9`)],
    [path('h9 v9 a1 1 0 01.5.5'.repeat(900)), path('h900z'.repeat(90_000))],
    [
      path('l.1 .1'.repeat(40_000)),
      `<g stroke="red" stroke-width="99">${path('l.1 .1l-.1-.1'.repeat(20_000))}</g>`,
    ],
    [page.repeat(10_000), page.repeat(30_000)],
    [star.repeat(7_000), star.repeat(9_000)],
    [curve.repeat(9_000), curve.repeat(11_000)],
    [`<text>${'a'.repeat(10_000)}</text>`, `<text>${'a'.repeat(20_000)}</text>`],
    [copies(100), copies(300)],
    [page.repeat(1_000) + animation, page.repeat(3_000) + animation],
    [`<title>${'a'.repeat(50_000)}</title>`, '<mask id="m"/><g mask="url(#m)"/>'.repeat(300)],
    [
      '<g style="mix-blend-mode:multiply"/>'.repeat(100),
      '<rect style="mix-blend-mode:multiply"/>'.repeat(3_000),
    ],
  ] as const) {
    t.match(await written(few), '<svg', few.slice(0, 60));
    await t.rejects(written(many), refused, many.slice(0, 60));
  }
  const many = source(page.repeat(30_000));
  t.equal(await deliver(many, negotiated), null, 'negotiates another format');
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
  const moving = image('gif', await animation('gif', [red, green], { width: 8, height: 8 }));
  const jpeg = image('jpeg', await large.jpeg().toBuffer());
  const png = image('png', claimingPng(700, 700, 1));
  const page = '<rect width="100%" height="100%" fill-opacity=".1"/>';
  for (const [few, many] of [
    [png.repeat(2), png.repeat(3)],
    [png, image('png', claimingPng(30_000, 30_000, 1))],
    [png, image('webp', await large.webp({ lossless: true }).toBuffer())],
    [png, `<filter id="f">${jpeg.replace('image', 'feImage')}</filter>`],
    [png, image('gif', gif)],
    [png, image('avif', sequence)],
    [two, two.repeat(2)],
    [moving + page.repeat(1_000), moving + page.repeat(3_000)],
  ] as const) {
    t.match(await written(few), few, few.slice(0, 60));
    await t.rejects(written(many), refused, many.slice(0, 60));
    t.equal(await deliver(source(many), negotiated), null, 'negotiates another format');
  }
  t.notMatch(await written(png.replace('data:', '\u00a0data:')), 'href', 'an unread image');
});

t.test('weighs a filter once, however many elements use it', async (t) => {
  const filter = `<filter id="f">${'<feOffset/>'.repeat(40_000)}</filter>`;
  await t.rejects(written(filter + '<g filter="url(#f)"/>'.repeat(9_000)), refused);
  const classes = Array.from({ length: 25 }, (_, n) => `c${n}`);
  const rules = classes.map((name) => `.${name}{fill:${`url(#${name})`.repeat(60)}}`);
  const styled = `<g class="${classes.join(' ')}"/>`.repeat(40_000);
  await t.rejects(written(`<style>${rules.join('')}</style>${styled}`), refused);
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
  const chain = Array.from({ length: 9_000 }, (_, i) => `<use id="u${i}" href="#u${i + 1}"/>`);
  await t.rejects(
    written(chain.join('')),
    { code: 'source_too_large' },
    'without a stack overflow',
  );
});

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
    `<g>${'<rect><set attributeName="fill" to="url(#p)"/></rect>'.repeat(2_000)}</g>`,
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
  const pattern = `<pattern id="p">${'<rect/>'.repeat(100)}</pattern>`;
  const filter = '<filter id="f"><feTurbulence/></filter>';
  const mask = '<mask id="m"><rect/></mask>';
  const many = '<rect/>'.repeat(300);
  const set = (property: string, id: string) =>
    `<set attributeName="${property}" to="url(#${id})"/>`;
  const markers = `<marker id="n">${many}</marker><path d="M0 0${' l1 1'.repeat(500)}" `;
  const circle = (from: string, to: string) =>
    `<g id="${from}">${`<use href="#${to}"/>`.repeat(300)}</g>`;
  for (const content of [
    `${filter}${`<rect>${set('filter', 'f')}</rect>`.repeat(30)}`,
    `${mask}${`<rect>${set('mask', 'm')}</rect>`.repeat(300)}`,
    `${filter}<rect id="r"/>${'<use href="#r"/>'.repeat(30)}<set href="#r" attributeName="filter" to="url(#f)"/>`,
    `${filter}<style>@keyframes k{to{filter:url(#f)}}</style>${many}`,
    `${pattern}<style>g{a:" .b{";fill:url(#p)}</style><g>${many}</g>`,
    `${markers} style="MARKER-MID:url(#n)"/>`,
    `<marker id="n">${many}</marker><polyline d="" points="0 0${' 1 1'.repeat(500)}" marker-mid="url(#n)"/>`,
    `<polygon d="M0 0" points="${'0 0 900 900 '.repeat(30_000)}"/>`,
    `<rect d="M0 0h1" width="900" height="900" stroke="red" stroke-dasharray=".001"/>`.repeat(20),
    `<g id="a"><use href="#b"/></g><g id="b">${many}<use href="#a"/></g>${'<use href="#a"/>'.repeat(300)}`,
    `${circle('x', 'y')}${circle('y', 'z')}${circle('z', 'x')}`,
    // Reading the path again per use would take minutes.
    `<g id="a"><use href="#a"/></g><path id="p" d="M0 0${'h1'.repeat(100_000)}"/>${'<use href="#p"/>'.repeat(2_000)}`,
    `<linearGradient id="g">${'<stop/>'.repeat(9_000)}</linearGradient><linearGradient id="h" href="#g"/><g fill="url(#h)">${many}</g>`,
  ]) {
    await t.rejects(written(content), refused, content.slice(0, 90));
  }
  const properties = `${filter}<style>*{--f:url(#f);--b:blur(9px) blur(9px);--c:red}rect{filter:var(--f)}</style>`;
  t.match(
    await written(`${properties}<rect/>`),
    /<style>\*\{;;--c:red\}rect/,
    'drops costly variables',
  );
  for (const style of [
    `text-shadow:${'0 0 9px red,'.repeat(99)}0 0 red`,
    `box-shadow:${'0 0 9px red,'.repeat(99)}0 0 red`,
    `d:path('M0 0${'L9 9'.repeat(99)}')`,
    `clip-path:polygon(${'calc(1px) 2px,'.repeat(99)}0 0)`,
    `background:radial-gradient(red,blue)`,
  ]) {
    const both = await written(
      `<style>rect{${style};fill:red}</style><rect style="${style};stroke:red"/>`,
    );
    t.match(both, /fill:red\}.*stroke:red/, style.slice(0, 20));
    t.notMatch(both, /shadow|path\(|polygon|gradient/, style.slice(0, 20));
  }
  t.match(
    await written('<style>.box-shadow:hover{fill:red}</style>'),
    '.box-shadow:hover{fill:red}',
  );
});

t.test('bounds lists of references', async (t) => {
  const groups = Array.from({ length: 200 }, (_, n) => `<g fill="url(#p${n})">`).join('');
  await t.rejects(written(groups + '</g>'.repeat(200)), refused);
  const rule = 'rect{fill:url(#a)}'.repeat(20_000);
  await t.rejects(written(`<style>${rule}</style><rect/>`), refused);
  const values = '.5;'.repeat(300_000);
  t.match(await written(`<animate attributeName="stroke-dasharray" values="${values}"/>`), '.5;');
});

t.test('limits filters, dashes, groups and style rules', async (t) => {
  const filter = (primitives: string, attributes = '') =>
    `<filter id="f" ${attributes}>${primitives}</filter>`;
  const filtered = '<rect filter="url(#f)"/>';
  const blur = '<feGaussianBlur stdDeviation="1"/>';
  const shadow = `<feGaussianBlur in="SourceAlpha" stdDeviation="2"/><feOffset dx="1" result="a"/>
    <feMerge><feMergeNode in="a"/><feMergeNode in="SourceGraphic"/></feMerge>`;
  const own = 'filterUnits="userSpaceOnUse" width="40" height="20"';
  const doubled = Array.from(
    { length: 40 },
    (_, n) => `<feBlend in="r${n}" in2="r${n}" result="r${n + 1}"/>`,
  );
  t.match(await written(filter(shadow, own) + filtered.repeat(20)), own);
  for (const content of [
    filter(blur) + filtered.repeat(1_000),
    filter('<feTurbulence numOctaves="9"/>') + filtered.repeat(100),
    filter('<feGaussianBlur stdDeviation="1e4"/>') + filtered,
    filter(blur, 'x="-100" width="9000" height="300%"') + filtered.repeat(10),
    filter(`<feOffset result="r0"/>${doubled.join('')}`) + filtered,
    `<rect style="filter:${'blur(3px) '.repeat(300)}"/>`,
    `<style>rect{filter:blur(3px)}</style>${'<rect/>'.repeat(300)}`,
    `<filter id="e" width="1e999"/><g filter="url(#e)">${tenTimes('mask', 'mask', 8)}</g>`,
    '<path d="M0 0H1000" stroke-dasharray=".0001"/>'.repeat(100),
    '<path d="M0 0H1" stroke-dasharray=".001%"/>'.repeat(100),
    '<circle style="r:90px" stroke-dasharray=".0001"/>'.repeat(100),
    '<rect style="width:1em" stroke-dasharray=".0001"/>'.repeat(100),
    '<circle r="50%" stroke-dasharray=".0001"/>'.repeat(100),
    '<svg viewBox="0 0 9e9 9e9"><circle r="50%" stroke-dasharray="9e3"/></svg>'.repeat(100),
    `<style>circle{r:90px}</style>${'<circle stroke-dasharray=".0001"/>'.repeat(100)}`,
    `<g stroke-dasharray=".01">${'<circle><set attributeName="r" to="90"/></circle>'.repeat(100)}</g>`,
    '<ellipse rx="700" ry="600" stroke="red" stroke-width="300"/>'.repeat(9_000),
    '<path d="M0 500a500 500 0 1 1 0 1" stroke="red" stroke-width="300"/>'.repeat(9_000),
    `<path d="M0 0"><animate attributeName="d" values="M0 0${'L900 900L0 0'.repeat(3_000)};M0 0"/></path>`,
    `<path id="p" d="M0 0"/>${'<use href="#p"/>'.repeat(900)}<animate href="#p" attributeName="d" values="M0 0${'h1'.repeat(900)}"/>`,
    `<text stroke-dasharray=".0001">${'a'.repeat(900)}</text>`,
    '<path d="M0 0H1" stroke-dasharray="1em" font-size=".0001"/>'.repeat(9),
    `<style>svg{--d:.0001}path{stroke-dasharray:var(--d)}</style>${'<path d="M0 0H1"/>'.repeat(100)}`,
    `<style>path{stroke-dasharray:.0001}</style>${'<path d="M0 0H1000"/>'.repeat(100)}`,
    '<g opacity=".5"><rect/><rect/></g>'.repeat(3_000),
    `<style>${'*{}'.repeat(10_000)}</style>${'<g/>'.repeat(20_000)}`,
    `<style>${'g:has(path){}'.repeat(100)}</style>${'<g/>'.repeat(5_000)}`,
  ]) {
    await t.rejects(written(content, {}, stroked), refused, content.slice(0, 60));
  }
  const point = '<path stroke-width="2" d="M2 0A2 2 0 1 1-2 0A2 2 0 1 1 2 0Z"/>';
  t.match(await written(point.repeat(5_000)), 'A2 2', 'a chart with many points');
  t.match(
    await written('<rect opacity=".5" stroke-dasharray="4 2" width="9"/>'.repeat(5_000)),
    'dash',
  );
});

t.test('weighs each shape with its worst possible stroke', async (t) => {
  const long = '<path d="M0 0H1000"/>'.repeat(100);
  const short = '<path d="M0 0H.001" stroke="red" stroke-dasharray=".0001"/>';
  const group = `<g id="g">${long}</g>`;
  const symbol = `<symbol id="s">${long}</symbol>`;
  const dashes = 'stroke="red" stroke-dasharray=".0001"';
  const style = 'stroke:red;stroke-dasharray:.0001';
  const set = '<set attributeName="stroke-dasharray" to=".0001"/>';
  t.match(await written(short + long), 'path', "another element's dashes");
  t.match(await written(`<g ${dashes}/>${long}`), 'path', "another group's dashes");
  t.match(await written(`<style>.a{${style}}</style><g class="b">${long}</g>`), 'path');
  t.match(await written(`<g stroke-dasharray=".0001">${long}</g>`), 'path', 'without a stroke');
  for (const content of [
    `<g ${dashes}>${long}</g>`,
    `<g ${dashes}><g stroke-dasharray="inherit" stroke="inherit">${long}</g></g>`,
    `<g ${dashes}><svg><switch>${long}</switch></svg></g>`,
    `<g style="${style}">${long}</g>`,
    `<g style="--d:.0001;stroke:red;STROKE-DASHARRAY:var(--d)">${long}</g>`,
    `<style>path{${style}}</style>${long}`,
    `<style>:not(a){${style}}</style>${long}`,
    `<style>.a{${style}}</style><g class="b a">${long}</g>`,
    `<style>@media all{g{x{}stroke-dasharray:.0001}}</style><g stroke="red">${long}</g>`,
    `<style>@keyframes k{to{${style}}}</style>${long}`,
    `<g stroke="red">${long}${set}</g>`,
    `<g id="h" stroke="red">${long}</g>${set.replace('set', 'set href="#h"')}`,
    `${group}<use href="#g" ${dashes}/>`,
    `<g ${dashes}><use href="#g"/></g>${group}`,
    `<g style="${style}"><use href="#s"/></g>${symbol}`,
    `<style>use{${style}}</style>${symbol}<use href="#s"/>`,
    `${group}<g stroke="red"><use href="#g">${set}</use></g>`,
    `${group}<g id="h"><use href="#g"/></g><g ${dashes}><use href="#h"/></g>`,
    `<g ${dashes}><marker id="m">${long}</marker></g><path d="M0 0" marker-end="url(#m)"/>`,
    `<path d="M0 0" ${dashes}>${'<animate attributeName="d" values="M0 0H1000"/>'.repeat(100)}</path>`,
    // Few lengths with many dashes, and sums of animations.
    `<g stroke="red" stroke-dasharray="${'.001 '.repeat(1_000)}">${long}</g>`,
    `<g stroke="red" stroke-dasharray="9"><animate attributeName="stroke-dasharray" by="-8.9999"/>${long}</g>`,
    `<g stroke="red" stroke-dasharray="9"><animate attributeName="stroke-dasharray" values="-8.9999" additive="sum"/>${long}</g>`,
    '<circle stroke="red" stroke-dasharray="1"><animate attributeName="r" values="9" accumulate="sum"/></circle>',
    '<path d="M0 0" stroke="red" stroke-dasharray="1"><animate attributeName="d" values="M0 0H9" accumulate="sum"/></path>',
  ]) {
    await t.rejects(written(content), refused, content.slice(0, 90));
  }
});

t.test('removes easings and sums that leave the range of keyframes', async (t) => {
  const sheet = (easing: string) => `<style>g{animation:k 1s ${easing}}</style>`;
  for (const easing of [
    'linear(9.9,9.9)',
    'LINEAR(0,.5,1,0,9)',
    'linear(calc((9)))',
    'cubic-bezier(0,99,0,1)',
    'cubic-bezier(0, 1, 0, -1)',
    'cubic-bezier(0,var(--a),0,1)',
  ]) {
    t.notMatch(await written(sheet(easing)), /linear|bezier/i, easing);
    t.notMatch(await written(`<g style="animation:k 1s ${easing}"/>`), /linear|bezier/i, easing);
  }
  for (const easing of ['linear', 'cubic-bezier(.25, 0.1,0.250,1.000)', 'steps(3)']) {
    t.match(await written(sheet(easing)), easing);
  }
  t.notMatch(await written('<style>g{animation-composition:add}</style>'), 'composition');
});
