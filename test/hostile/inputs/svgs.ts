import { claimingPng } from '../../pool/rendering/pictures.ts';
import { repeatedText } from './bytes.ts';

/** An expected code of an error; null for an image. */
type Code =
  | 'source_unsupported'
  | 'source_too_large'
  | 'source_corrupt'
  | 'transform_timeout'
  | null;

export interface HostileSvg {
  readonly what: string;
  readonly document: string;
  readonly codes: readonly Code[];
}

/** libvips rasterises a side up to 2,000 pixels in one tile and does not interrupt the tile. */
const side = 1990;
const namespaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
export const svg = (inner: string, size = `width="${side}" height="${side}"`) =>
  `<svg ${namespaces} ${size}>${inner}</svg>`;

const shape = (attributes: string) => `<rect width="${side}" height="${side}" ${attributes}/>`;
const rect = shape('');
const whole = 'x="0" y="0" width="1" height="1"';
const filter = (primitives: string) => `<filter id="f" ${whole}>${primitives}</filter>`;
const turbulence = filter('<feTurbulence baseFrequency="0.7" numOctaves="9"/>');
const blur = filter('<feGaussianBlur stdDeviation="3"/>');
const filtered = shape('filter="url(#f)"');
const blurs = 'blur(3px) '.repeat(200);
/** Points spread over the surface. */
const points = (count: number) =>
  repeatedText(count, (index) => `${(index * 7919) % side} ${(index * 104_729) % side} `);

/** Groups that each use their predecessor ten times. */
const groups = (count: number) => {
  const group = (index: number) =>
    `<g id="l${index + 1}">${`<use href="#l${index}"/>`.repeat(10)}</g>`;
  return `<defs><g id="l0">${rect}</g>${repeatedText(count, group)}</defs><use href="#l${count}"/>`;
};

/** Patterns or masks that each contain their predecessor ten times. */
const nestedTen = (name: string, attributes: string, property: string) => {
  const inside = (index: number) => shape(`${property}="url(#d${index})"`);
  const definition = (index: number) =>
    `<${name} id="d${index + 1}" ${attributes}>${inside(index).repeat(10)}</${name}>`;
  return repeatedText(40, definition) + inside(40);
};
/** Definitions that each use their predecessor, so that all surfaces exist at once. */
const chained = (name: string, attributes: string, property: string, count: number) => {
  const inside = (index: number) => shape(`fill="#fff" ${property}="url(#d${index})"`);
  const definition = (index: number) =>
    `<${name} id="d${index + 1}" ${attributes}>${inside(index)}</${name}>`;
  return repeatedText(count, definition) + inside(count);
};
const tile = `width="${side}" height="${side}" patternUnits="userSpaceOnUse"`;

const marked = (index: number) =>
  `<path d="M0 0${' l1 1'.repeat(50)}" marker-mid="url(#m${index})"/>`;

const base64 = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64');
const escaped = (text: string) => [...text].map((c) => `&#${c.charCodeAt(0)};`).join('');
const pngUrl = (side: number) => `data:image/png;base64,${base64(claimingPng(side, side, 1))}`;
/** Above the source limit of 100 megapixels. */
const large = pngUrl(12_000);
const nested = `data:image/svg+xml;base64,${base64(svg(''))}`;
const image = (href: string) => svg(`<image href="${href}"/>`);
const style = (sheet: string) => svg(`<style>${sheet}</style><rect/>`);
const subset = '[<!ENTITY a "b"><!ENTITY c "&a;">]>';

const unsupported: Readonly<Record<string, string>> = {
  'entities in an internal subset': `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${svg('&b;')}`,
  'an external entity': `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/hosts">]>${svg('&a;')}`,
  'an internal subset after a quoted bracket': `<!DOCTYPE svg SYSTEM "a>b" ${subset}${svg('')}`,
  'an internal subset after a short comment': `<!--><svg --><!DOCTYPE svg ${subset}${svg('')}`,
  'an internal subset after a short instruction': `<?><svg ?><!DOCTYPE svg ${subset}${svg('')}`,
  'an internal subset after a quoted root': `<!DOCTYPE svg SYSTEM "><svg " ${subset}${svg('&a;')}`,
  'an included document': svg(
    `<x:include xmlns:x="http://www.w3.org/2001/XInclude" parse="xml" href="${nested}"/>`,
  ),
  'deep nesting': svg('<g>'.repeat(300) + '</g>'.repeat(300)),
  'an HTML page with a drawing': `<html>${svg('')}</html>`,
  '300 embedded images': svg('<image href="data:,x"/>'.repeat(300)),
  'a drawing in an embedded drawing': image(`data:image/svg+xml;base64,${base64(image(nested))}`),
  'an embedded drawing with entities': image(
    `data:image/svg+xml;base64,${base64(`<!DOCTYPE svg ${subset}${svg('')}`)}`,
  ),
  'an embedded drawing without a type': image(nested.replace('image/svg+xml', '')),
  'an embedded drawing that begins like a GIF': image(
    `data:image/svg+xml,GIF89a${escaped('<svg>')}`,
  ),
  'an embedded image of an unknown format': image('data:image/png;base64,AAAA'),
};

const tooLarge: Readonly<Record<string, string>> = {
  'an embedded image of 144 megapixels': image(large),
  'such an image in the attribute path': svg(`<image path="${large}"/>`),
  'such an image with an escaped URL': image(escaped(large.slice(0, 30)) + large.slice(30)),
  'such an image with white space in its URL': image(
    ` \n${large.slice(0, 9)}\t\n${large.slice(9)}`,
  ),
  'such an image with percent escapes': image(large.replace('base64,iVBOR', 'base64,%69VBOR')),
  'such an image with a namespace prefix': `<svg ${namespaces} xmlns:s="http://www.w3.org/2000/svg"><s:image xlink:href='${large}'/></svg>`,
  'such an image in a filter': svg(`<filter><feImage href="${large}"/></filter>`),
  'such an image after a quote in a comment': svg(`<!-- <image " --><image href="${large}"/>`),
  'such an image in an embedded drawing': image(
    `data:image/svg+xml;base64,${base64(image(large))}`,
  ),
  'two embedded images of 64 megapixels': svg(`<image href="${pngUrl(8_000)}"/>`.repeat(2)),
};

const corrupt: Readonly<Record<string, string>> = {
  'an unclosed element': svg(rect).slice(0, -20),
  'a zero byte': svg(`<g>\0</g>${rect}`),
  'no size': svg('', 'width="0" height="0"'),
};

const rules = repeatedText(5_000, (index) => `g g .c${index} > rect:first-child { fill: red }`);

/** These have limits on time and memory only. Whether they finish depends on the machine. */
const bounded: Readonly<Record<string, string>> = {
  'a style sheet in a style sheet': style(
    `@import url("data:text/css,${'a{fill:red}'.repeat(50_000)}")`,
  ),
  'a linked style sheet in a data: URL': `<?xml-stylesheet type="text/css" href="data:text/css,a{}"?>${svg('')}`,
  'documents in paints': svg(repeatedText(200, (i) => shape(`fill="url(${nested}#a${i})"`))),
  'a document with a large image in use': svg(
    `<use href="data:image/svg+xml;base64,${base64(svg(`<image id="a" href="${pngUrl(9_000)}"/>`))}#a"/>`,
  ),
  'many style rules': svg(
    `<style>${rules}</style>${'<g><g><rect width="9"/></g></g>'.repeat(3_000)}`,
  ),
  'an element that uses itself': svg('<g id="a"><use href="#a"/></g>'),
  'many uses of one turbulence': svg(
    `${turbulence}<g id="g">${filtered}</g>${'<use href="#g"/>'.repeat(40)}`,
  ),
  'turbulences in a row': svg(
    filter('<feTurbulence numOctaves="1000000000"/>'.repeat(40)) + filtered,
  ),
  'nested turbulences': svg(
    `${turbulence}${'<g filter="url(#f)">'.repeat(200)}${rect}${'</g>'.repeat(200)}`,
  ),
  'filters in a style sheet': svg(
    `${turbulence}<style>rect { filter: url(#f) }</style>${rect.repeat(40)}`,
  ),
  'a long list of filters': svg(blur + shape(`filter="${'url(#f) '.repeat(200)}"`)),
  'a list of filter functions': svg(shape(`filter="${blurs}"`)),
  'filters in a pattern': svg(
    `${blur}<pattern id="p" ${tile}>${filtered}</pattern>${shape('fill="url(#p)"').repeat(200)}`,
  ),
  'filters in markers': svg(
    `${blur}<marker id="m">${filtered}</marker><path d="M0 0${' l1 1'.repeat(200)}" marker-mid="url(#m)"/>`,
  ),
  'a large kernel': svg(
    filter(`<feConvolveMatrix order="50" kernelMatrix="${'1 '.repeat(2500)}"/>`) + filtered,
  ),
  'a large radius': svg(filter('<feMorphology operator="dilate" radius="1000"/>') + filtered),
  'lights in a row': svg(
    filter('<feSpecularLighting><fePointLight z="9"/></feSpecularLighting>'.repeat(100)) + filtered,
  ),
  'a filter with many surfaces': svg(
    filter(repeatedText(250, (i) => `<feOffset dx="${i}" result="r${i}"/>`)) + filtered,
  ),
  'a blur without a limit': svg(filter('<feGaussianBlur stdDeviation="1e9"/>') + filtered),
  'a filter of a huge region': svg(
    `<filter id="f" x="-1e6" y="-1e6" width="1e7" height="1e7"><feGaussianBlur stdDeviation="50"/></filter>${filtered}`,
  ),
  'many masks': svg(`<mask id="m">${rect}</mask>${shape('mask="url(#m)"').repeat(4_000)}`),
  'masks in masks': svg(nestedTen('mask', '', 'mask')),
  'masks of masks': svg(chained('mask', '', 'mask', 200)),
  'uses of uses': svg(groups(12)),
  'patterns in patterns': svg(nestedTen('pattern', 'width="1" height="1"', 'fill')),
  'patterns of patterns': svg(chained('pattern', tile, 'fill', 200)),
  'markers in markers': svg(
    repeatedText(20, (i) => `<marker id="m${i + 1}">${marked(i)}</marker>`) + marked(20),
  ),
  'a long chain of references': svg(
    `<defs>${repeatedText(20_000, (n) => `<g id="g${n}"><use href="#g${n + 1}"/></g>`)}</defs><use href="#g0"/>`,
  ),
  'nested layers': svg(`${'<g opacity=".5">'.repeat(240)}${rect}${'</g>'.repeat(240)}`),
  'impossible sizes': svg(rect, 'width="1e30" height="-1e-30"'),
  'endless dashes': svg('<path d="M0 0H1e7V1e7" stroke="red" stroke-dasharray=".0001"/>'),
  'many dashes': svg(
    `<path d="M${points(2_000)}" fill="none" stroke="red" stroke-width="100" stroke-linecap="round" stroke-dasharray=".001"/>`,
  ),
  'a path that crosses itself': svg(`<path fill-rule="evenodd" d="M${points(60_000)}Z"/>`),
  'a wide round stroke': svg(
    `<path fill="none" stroke="red" stroke-width="900" stroke-linejoin="round" d="M${points(30_000)}"/>`,
  ),
  'very large letters': svg(`<text y="${side}" font-size="1e7">${'W'.repeat(5_000)}</text>`),
  'very many letters': svg(`<text y="99">${'Wa\u0301\u202e\ud83d\ude00'.repeat(30_000)}</text>`),
  'a word of a megabyte': svg(`<text y="99">${'W'.repeat(1_000_000)}</text>`),
  'a pattern of very small tiles': svg(
    '<pattern id="p" width=".001" height=".001" patternUnits="userSpaceOnUse"><rect width="1" height="1"/></pattern><rect width="100%" height="100%" fill="url(#p)"/>',
  ),
  'many gradient stops': svg(
    `<linearGradient id="l">${repeatedText(50_000, (i) => `<stop offset="${i / 50_000}" stop-color="#${i % 10}0f"/>`)}</linearGradient>${shape('fill="url(#l)"').repeat(40)}`,
  ),
  'many gradients': svg(
    repeatedText(
      100_000,
      (i) => `<linearGradient id="l${i}"><stop/></linearGradient>${shape(`fill="url(#l${i})"`)}`,
    ),
  ),
};

const outcomes: readonly Code[] = [null, 'source_too_large', 'source_corrupt', 'transform_timeout'];

const all: readonly (readonly [Readonly<Record<string, string>>, readonly Code[]])[] = [
  [unsupported, ['source_unsupported']],
  [tooLarge, ['source_too_large']],
  [corrupt, ['source_corrupt']],
  [bounded, outcomes],
  [
    {
      'endless shapes': svg(
        `<radialGradient id="g"><stop/></radialGradient>${'<circle r="3000" fill="url(#g)" opacity=".99"/>'.repeat(60_000)}`,
      ),
    },
    ['transform_timeout'],
  ],
];

export const hostileSvgs: readonly HostileSvg[] = all.flatMap(([documents, codes]) =>
  Object.entries(documents).map(([what, document]) => ({ what, document, codes })),
);

/** Takes longer than any timeout. */
export const slowSvg = svg('<circle r="3000" opacity=".99"/>'.repeat(60_000));
