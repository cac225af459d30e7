import t from 'tap';
import { repeatedText } from '../../hostile/inputs/bytes.ts';
import { svg as svgOf } from '../../hostile/inputs/svgs.ts';
import { drawn, inspected, plain } from '../rendering/drawn.ts';
import { noise } from '../rendering/pictures.ts';

const svg = (inner: string, side = 4000) =>
  Buffer.from(svgOf(inner, `width="${side}" height="${side}"`));

const namespace = 'http://www.w3.org/2000/svg';
const redRect = '<rect width="9" height="9" fill="red"/>';

t.test('reads the roots and encodings that browsers read', async (t) => {
  const prefixed = (prefix: string) =>
    `<${prefix}:svg xmlns:${prefix}="${namespace}" width="9" height="9">${redRect.replace('<', `<${prefix}:`)}</${prefix}:svg>`;
  const document = svgOf(redRect, 'width="9" height="9"');
  const declared = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?>\n${document}`;
  const swapped = Buffer.from(`\ufeff${document}`, 'utf16le').swap16();
  const cases: Record<string, Buffer | string> = {
    'a prefix': prefixed('svg'),
    'a prefix of ElementTree': prefixed('ns0'),
    'a prefix after a document type': `<!DOCTYPE svg:svg [ ]>${prefixed('svg')}`,
    'a long comment': `<!--${'licence '.repeat(1000)}-->${document}`,
    'UTF-16': Buffer.from(`\ufeff${declared('UTF-16')}`, 'utf16le'),
    'UTF-16 without a mark': Buffer.from(declared('UTF-16'), 'utf16le'),
    'UTF-16 with big endian': swapped,
    'UTF-16 in name only': declared('utf-16'),
    utf8: declared('utf8'),
    'Shift JIS': Buffer.from(`${declared('Shift_JIS')}<!--\x82\xa0-->`, 'latin1'),
    'an unknown encoding': declared('x-none'),
  };
  for (const [what, source] of Object.entries(cases)) {
    t.same((await drawn(Buffer.from(source))).middle, [255, 0, 0, 255], what);
  }
  const text = `<text>${String.fromCharCode(0xe9)}</text>`;
  const latin = Buffer.from(`<?xml version="1.0"?>${svgOf(text)}`, 'latin1');
  await t.rejects(inspected(latin, 1e6), { code: 'source_corrupt', message: /invalid in its enc/ });
});

t.test('replaces literal entities, up to a limit in number and length', async (t) => {
  const declare = (declarations: string, document: string) =>
    Buffer.from(`<!DOCTYPE svg PUBLIC "a" "b[" [${declarations}]\n>${document}`);
  const sized = (inner: string) => svgOf(inner, 'width="9" height="9"');
  const illustrator = declare(
    `<!-- ]> --><!ELEMENT a ANY><!ATTLIST svg xmlns:a3 CDATA #IMPLIED>
     <!ENTITY ns_svg "${namespace}"> <!ENTITY fill 'r&#101;d'><!ENTITY fill "blue">`,
    `<svg xmlns="&ns_svg;" width="9" height="9"><style><![CDATA[a{b:"&fill;"}]]></style><!-- &fill; -->${redRect.replace('red', '&fill;')}</svg>`,
  );
  t.same((await drawn(illustrator)).middle, [255, 0, 0, 255]);
  const named = declare('<!ENTITY a "&amp;lt;&quot;">', sized(`${redRect}<text>&a;</text>`));
  t.same((await drawn(named)).middle, [255, 0, 0, 255], 'entities of XML in an entity');
  const element = declare(`<!ENTITY rect '${redRect}'>`, sized('&rect;'));
  t.same((await drawn(element)).middle, [255, 0, 0, 255], 'an element');
  const image = declare(
    '<!ENTITY image "<image href=\'data:image/x;base64,Qk0=\'/>">',
    sized('&image;'),
  );
  await t.rejects(inspected(image, 1e6), { message: /embeds an image/ }, 'an image in an entity');

  const refused = {
    'a nested one': '<!ENTITY a "b"><!ENTITY c "&a;">',
    'an escaped ampersand': '<!ENTITY a "b"><!ENTITY c "&#038;a;">',
    'an escaped bracket': '<!ENTITY c "&#x03C;">',
    'an external one': '<!ENTITY c SYSTEM "file:///etc/hosts">',
    'a parameter': '<!ENTITY % c "b">',
    'a long one': `<!ENTITY c "${'b'.repeat(2001)}">`,
    many: `${repeatedText(64, (index) => `<!ENTITY a${index} "">`)}<!ENTITY c "">`,
  };
  for (const [what, declarations] of Object.entries(refused)) {
    await t.rejects(
      inspected(declare(declarations, sized('&c;')), 1e6),
      { code: 'source_unsupported', message: /declares the XML entity c in/ },
      what,
    );
  }
  const attributes = '<!ATTLIST rect fill CDATA "red">';
  const error = { code: 'source_unsupported', message: /contains declarations/ };
  await t.rejects(inspected(declare(attributes, sized('')), 1e6), error, 'a default');
  const often = declare(`<!ENTITY a "${'b'.repeat(2000)}">`, sized('&a;'.repeat(600)));
  await t.rejects(inspected(often, 1e6), { code: 'source_too_large' }, 'one that is used often');
  const twice = declare('', `<!DOCTYPE svg [<!ENTITY a "b">]>${sized('')}`);
  await t.rejects(inspected(twice, 1e6), { code: 'source_corrupt' }, 'two document types');
});

t.test("names the document's fault in messages", async (t) => {
  const cases: Record<string, RegExp> = {
    '<svg><g></svg>': /not well-formed XML: unexpected close tag/,
    '<a:svg xmlns:a="urn:b"/>': /root element a:svg is in the namespace urn:b, not in SVG's/,
    '<svg>&nbsp;</svg>': /undeclared XML entity/,
  };
  for (const [document, message] of Object.entries(cases)) {
    await t.rejects(inspected(Buffer.from(document), 1e6), { code: 'source_corrupt', message });
  }
});

t.test('rejects embedded images that are never drawn', async (t) => {
  const bitmap = Buffer.alloc(60);
  bitmap.write('BM');
  bitmap.writeUInt32LE(40, 14);
  for (const bytes of [bitmap, Buffer.from('%PDF-1.7'), Buffer.from('text')]) {
    const image = `<image href="data:image/x;base64,${bytes.toString('base64')}"/>`;
    await t.rejects(inspected(svg(image), 1e6), {
      code: 'source_unsupported',
      message: /embeds an image \(image\/x\) that is not/,
    });
  }
  const avif = await noise(90, 90).avif().toBuffer();
  const cut = `data:image/avif;base64,${avif.subarray(0, -300).toString('base64')}`;
  await t.rejects(inspected(svg(`<image href="${cut}"/>`), 1e6), {
    code: 'source_corrupt',
    message: /embeds an image \(AVIF\) that cannot be decoded/,
  });
});

t.test('inspects slow documents in a bounded time', async (t) => {
  const documents: Record<string, string> = {
    'many elements': '<g/>'.repeat(400_000),
    'many prefixes': `${'<g>'.repeat(200)}${'<x xlink:href=""/>'.repeat(50_000)}${'</g>'.repeat(200)}`,
    'many attributes': `<g ${repeatedText(200_000, (n) => `a${n}="" `)}/>`,
    'comments without an end': '<!--'.repeat(1_000_000),
    'a long data: URL': `<image href="data:,${'%41'.repeat(2_000_000)}"/>`,
  };
  for (const [what, inner] of Object.entries(documents)) {
    // CPU time of this process; quadratic work would take minutes.
    const usageBefore = process.cpuUsage();
    await inspected(svg(inner), 1e8).catch(() => {});
    const { user, system } = process.cpuUsage(usageBefore);
    t.ok(user + system < 15_000_000, `${what}: ${user + system} us`);
  }
});

t.test('rasterises usual drawings at the requested size', async (t) => {
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
