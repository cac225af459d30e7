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

/** libvips rasterises a side of up to 2,000 pixels in one tile, which nothing interrupts. */
const side = 1990;
const namespaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
export const svg = (inner: string, size = `width="${side}" height="${side}"`) =>
  `<svg ${namespaces} ${size}>${inner}</svg>`;

const rect = `<rect width="${side}" height="${side}"/>`;
const whole = 'x="0" y="0" width="1" height="1"';
const turbulence = `<filter id="f" ${whole}><feTurbulence baseFrequency="0.7" numOctaves="9"/></filter>`;
const blur = '<filter id="f"><feGaussianBlur stdDeviation="3"/></filter>';
const filtered = `<g id="g" filter="url(#f)">${rect}</g>`;
const blurs = 'blur(3px) '.repeat(200);
/** Points spread over the surface. */
const points = (count: number) =>
  repeatedText(count, (index) => `${(index * 7919) % side} ${(index * 104_729) % side} `);

/** Groups that repeatedText use the previous one ten times. */
const groups = (count: number) => {
  const group = (index: number) =>
    `<g id="l${index + 1}">${`<use href="#l${index}"/>`.repeat(10)}</g>`;
  return `<defs><g id="l0"><rect/></g>${repeatedText(count, group)}</defs><use href="#l${count}"/>`;
};

/** Patterns that are repeatedText filled twice with the previous one. */
const patterns = (count: number) => {
  const shape = (index: number) => `<path d="M0 0H9V9" fill="url(#p${index})"/>`;
  const pattern = (index: number) =>
    `<pattern id="p${index + 1}" width="1" height="1">${shape(index).repeat(2)}</pattern>`;
  return repeatedText(count, pattern) + shape(count);
};

const base64 = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64');
const escaped = (text: string) => [...text].map((c) => `&#${c.charCodeAt(0)};`).join('');
const pngUrl = (side: number) => `data:image/png;base64,${base64(claimingPng(side, side, 1))}`;
/** More than the 100 megapixels that a source may have. */
const large = pngUrl(12_000);
const nested = `data:image/svg+xml;base64,${base64(svg(''))}`;
const image = (href: string) => svg(`<image href="${href}"/>`);
const style = (sheet: string) => svg(`<style>${sheet}</style><rect/>`);
const subset = '[<!ENTITY a "b">]>';

const unsupported: Readonly<Record<string, string>> = {
  'entities in an internal subset': `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${svg('&b;')}`,
  'an external entity': `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/hosts">]>${svg('&a;')}`,
  'an internal subset after a quoted bracket': `<!DOCTYPE svg SYSTEM "a>b" ${subset}${svg('')}`,
  'an internal subset after a short comment': `<!--><svg --><!DOCTYPE svg ${subset}${svg('')}`,
  'an internal subset after a quoted root': `<!DOCTYPE svg SYSTEM "><svg " ${subset}${svg('&a;')}`,
  'an encoding that hides elements': `<?xml version="1.0" encoding="UTF-7"?>${svg('')}`,
  'an included document': svg(
    `<x:include xmlns:x="http://www.w3.org/2001/XInclude" parse="xml" href="${nested}"/>`,
  ),
  'a style sheet in a style sheet': style('@import url("data:text/css,a{}")'),
  'a style sheet with an escaped URL': style('@import "\\64 at\\61:text/css,a{}"'),
  'a linked style sheet in a data: URL': `<?xml-stylesheet type="text/css" href="data:text/css,a{}"?>${svg('')}`,
  'a document in use': svg(`<use href="${nested}#a"/>`),
  'a document in a paint': svg(`<rect fill="url(${nested}#a)"/>`),
  'a document in a style attribute': svg(`<rect style="mask:url('${nested}#a')"/>`),
  'a document in a style sheet': style(`rect{filter:url("${nested}#a")}`),
  'an element that uses itself': svg('<g id="a"><use href="#a"/></g>'),
  'deep nesting': svg('<g>'.repeat(300) + '</g>'.repeat(300)),
  'an HTML page with a drawing': `<html>${svg('')}</html>`,
  '300 embedded images': svg('<image href="data:,x"/>'.repeat(300)),
  'an embedded drawing': image(nested),
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
  'two embedded images of 64 megapixels': svg(`<image href="${pngUrl(8_000)}"/>`.repeat(2)),
  'many uses of one turbulence': svg(
    `<defs>${turbulence}${filtered}</defs>${'<use href="#g"/>'.repeat(40)}`,
  ),
  'many uses of one octave': svg(
    `<defs>${turbulence.replace('9', '1')}${filtered}</defs>${'<use href="#g"/>'.repeat(400)}`,
  ),
  'a filter in a style sheet': svg(
    `${turbulence}<style>g > .a:not(.b), x { filter: url(#f) }</style>${'<g><rect class="a b"/></g>'.repeat(40)}`,
  ),
  'a filter for all elements': svg(
    `${turbulence}<style>@media print { a { b: c } } * { filter: u\\72l("#f") }</style>${'<rect/>'.repeat(40)}`,
  ),
  'filters in style attributes': svg(
    turbulence + '<rect style="x:y; filter : /* */ url( #f )"/>'.repeat(40),
  ),
  'a long list of filters': svg(`${blur}<rect filter="${'url(#f) '.repeat(200)}"/>`),
  'a list of filter functions': svg(`<rect filter="${blurs}"/>`),
  'filter functions in a style sheet': svg(
    `<style><![CDATA[rect { filter: ${blurs} }]]></style><rect/>`,
  ),
  'filters in a pattern': svg(
    `${blur}<pattern id="p"><rect filter="url(#f)"/></pattern><g fill="url(#p)">${'<rect/>'.repeat(200)}</g>`,
  ),
  'filters in markers': svg(
    `${blur}<marker id="m"><rect filter="url(#f)"/></marker><path d="M0 0${' l1 1'.repeat(200)}" marker-mid="url(#m)"/>`,
  ),
  'many masks': svg(`<mask id="m"><rect/></mask>${'<rect mask="url(#m)"/>'.repeat(4000)}`),
  'a large kernel': svg(
    `<filter id="f"><feConvolveMatrix order="50" kernelMatrix="${'1 '.repeat(2500)}"/></filter><rect filter="url(#f)"/>`,
  ),
  'uses of uses': svg(groups(6)),
  'patterns in patterns': svg(patterns(40)),
};

const corrupt: Readonly<Record<string, string>> = {
  'an internal subset after a short instruction': `<?><svg ?><!DOCTYPE svg ${subset}${svg('')}`,
  'an unclosed element': svg(rect).slice(0, -20),
  'a zero byte': svg(`<g>\0</g>${rect}`),
  'no size': svg('', 'width="0" height="0"'),
};

/** Only their time is limited; whether they finish in it depends on the machine. */
const bounded: Readonly<Record<string, string>> = {
  'impossible sizes': svg(rect, 'width="1e30" height="-1e-30"'),
  'endless dashes': svg('<path d="M0 0H1e7V1e7" stroke="red" stroke-dasharray=".0001"/>'),
  'a path that crosses itself': svg(`<path fill-rule="evenodd" d="M${points(60_000)}Z"/>`),
  'a wide round stroke': svg(
    `<path fill="none" stroke="red" stroke-width="900" stroke-linejoin="round" d="M${points(30_000)}"/>`,
  ),
  'very large letters': svg(`<text y="${side}" font-size="1e7">${'W'.repeat(5_000)}</text>`),
  'very many letters': svg(`<text y="99">${'Wa\u0301\u202e\ud83d\ude00'.repeat(30_000)}</text>`),
  'a pattern of very small tiles': svg(
    '<pattern id="p" width=".001" height=".001" patternUnits="userSpaceOnUse"><rect width="1" height="1"/></pattern><rect width="100%" height="100%" fill="url(#p)"/>',
  ),
  'a filter with many surfaces': svg(
    `<filter id="f" ${whole}>${repeatedText(250, (i) => `<feOffset dx="${i}" result="r${i}"/>`)}</filter><g filter="url(#f)">${rect}</g>`,
  ),
  'a blur without a limit': svg(
    `<filter id="f" ${whole}><feGaussianBlur stdDeviation="1e9"/></filter><g filter="url(#f)">${rect}</g>`,
  ),
  'many gradient stops': svg(
    `<linearGradient id="l">${repeatedText(50_000, (i) => `<stop offset="${i / 50_000}" stop-color="#${i % 10}0f"/>`)}</linearGradient>${rect.replace('/>', ' fill="url(#l)"/>').repeat(40)}`,
  ),
  'nested layers': svg(`${'<g opacity=".5">'.repeat(120)}${rect}${'</g>'.repeat(120)}`),
};

const rules = repeatedText(5_000, (index) => `g g .c${index} > rect:first-child { fill: red }`);
const outcomes: readonly Code[] = [null, 'source_too_large', 'source_corrupt', 'transform_timeout'];

const all: readonly (readonly [Readonly<Record<string, string>>, readonly Code[]])[] = [
  [unsupported, ['source_unsupported']],
  [tooLarge, ['source_too_large']],
  [corrupt, ['source_corrupt']],
  [bounded, outcomes],
  [
    {
      'many style rules': svg(
        `<style>${rules}</style>${'<g><g><rect width="9"/></g></g>'.repeat(3_000)}`,
      ),
    },
    [...outcomes, 'source_unsupported'],
  ],
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
export const endless = svg('<circle r="3000" opacity=".99"/>'.repeat(60_000));
