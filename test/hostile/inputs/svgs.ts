import { claimingPng } from '../../pool/rendering/pictures.ts';

/** A hostile document, and the statuses that it may be answered with; 200 where it is harmless. */
export interface HostileSvg {
  readonly what: string;
  readonly document: string;
  readonly statuses: readonly number[];
}

const side = 1990;
const namespaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
/** In one tile of libvips, which nothing interrupts. */
const svg = (inner: string, size = `width="${side}" height="${side}"`) =>
  `<svg ${namespaces} ${size}>${inner}</svg>`;
const rect = `<rect width="${side}" height="${side}"/>`;
const whole = 'x="0" y="0" width="1" height="1"';
const turbulence = `<filter id="f" ${whole}><feTurbulence baseFrequency="0.7" numOctaves="9"/></filter>`;
const filtered = `<g id="g" filter="url(#f)">${rect}</g>`;
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
/** Points all over the surface, always the same. */
const points = (count: number) =>
  numbers(count)
    .map((index) => `${(index * 7919) % side} ${(index * 104_729) % side}`)
    .join(' ');

const tooLarge = [413];
const refused = [415];
const corrupt = [422];
const slow = [504];
/** Only bounded: whether it is done in time depends on the machine. */
const bounded = [200, 413, 422, 504];

const surfaces = numbers(250)
  .map((index) => `<feOffset dx="${index}" result="r${index}"/>`)
  .join('');
const stops = numbers(50_000)
  .map((index) => `<stop offset="${index / 50_000}" stop-color="#${index % 10}0f"/>`)
  .join('');
const rules = numbers(5_000)
  .map((index) => `g g .c${index} > rect:first-child { fill: red }`)
  .join('');

export const corpus: readonly HostileSvg[] = (
  [
    [
      'many uses of one turbulence',
      tooLarge,
      svg(`<defs>${turbulence}${filtered}</defs>${'<use href="#g"/>'.repeat(40)}`),
    ],
    [
      'the same with one octave',
      tooLarge,
      svg(
        `<defs>${turbulence.replace('9', '1')}${filtered}</defs>${'<use href="#g"/>'.repeat(400)}`,
      ),
    ],
    [
      'a list of CSS filters',
      tooLarge,
      svg(`<style>rect { filter: ${'blur(9px) '.repeat(300)} }</style>${rect}`),
    ],
    [
      'entities behind a quoted bracket',
      refused,
      `<!DOCTYPE svg SYSTEM "><svg " [<!ENTITY a "${filtered.replaceAll('"', "'")}">]>${svg('&a;&a;')}`,
    ],
    [
      'an included document',
      refused,
      svg(
        `<x:include xmlns:x="http://www.w3.org/2001/XInclude" parse="xml" href="data:text/xml;base64,${base64(svg(filtered))}"/>`,
      ),
    ],
    [
      'a used document',
      refused,
      svg(`<use xlink:href="data:image/svg+xml;base64,${base64(svg(filtered))}#g"/>`),
    ],
    [
      'an encoding that hides elements',
      refused,
      `<?xml version="1.0" encoding="UTF-16"?>${svg(rect)}`,
    ],
    [
      'a picture of 144 megapixels',
      tooLarge,
      svg(
        `<image width="9" height="9" href="data:image/png;base64,${base64(claimingPng(12_000, 12_000))}"/>`,
      ),
    ],
    ['deep nesting', refused, svg('<g>'.repeat(5_000) + '</g>'.repeat(5_000))],
    ['an element that does not end', corrupt, svg(rect).slice(0, -20)],
    ['a zero byte', corrupt, svg(`<g>\0</g>${rect}`)],
    ['impossible sizes', bounded, svg(rect, 'width="1e30" height="-1e-30"')],
    [
      'shapes without end',
      slow,
      svg(
        `<radialGradient id="g"><stop/></radialGradient>${'<circle r="3000" fill="url(#g)" opacity=".99"/>'.repeat(60_000)}`,
      ),
    ],
    [
      'dashes without end',
      bounded,
      svg('<path d="M0 0H1e7V1e7" stroke="red" stroke-dasharray=".0001"/>'),
    ],
    [
      'a path that crosses itself',
      bounded,
      svg(`<path fill-rule="evenodd" d="M${points(60_000)}Z"/>`),
    ],
    [
      'a wide round stroke',
      bounded,
      svg(
        `<path fill="none" stroke="red" stroke-width="900" stroke-linejoin="round" d="M${points(30_000)}"/>`,
      ),
    ],
    [
      'very large letters',
      bounded,
      svg(`<text y="${side}" font-size="1e7">${'W'.repeat(5_000)}</text>`),
    ],
    [
      'very many letters',
      bounded,
      svg(`<text y="99">${'Wa\u0301\u202e\ud83d\ude00'.repeat(30_000)}</text>`),
    ],
    [
      'a pattern of very small tiles',
      bounded,
      svg(
        `<pattern id="p" width=".001" height=".001" patternUnits="userSpaceOnUse"><rect width="1" height="1"/></pattern><rect width="100%" height="100%" fill="url(#p)"/>`,
      ),
    ],
    [
      'a filter that needs many surfaces',
      bounded,
      svg(`<filter id="f" ${whole}>${surfaces}</filter><g filter="url(#f)">${rect}</g>`),
    ],
    [
      'a blur without end',
      bounded,
      svg(
        `<filter id="f" ${whole}><feGaussianBlur stdDeviation="1e9"/></filter><g filter="url(#f)">${rect}</g>`,
      ),
    ],
    [
      'very many gradient stops',
      bounded,
      svg(
        `<linearGradient id="l">${stops}</linearGradient>${rect.replace('/>', ' fill="url(#l)"/>').repeat(40)}`,
      ),
    ],
    [
      'very many style rules',
      [...bounded, 415],
      svg(`<style>${rules}</style>${'<g><g><rect width="9"/></g></g>'.repeat(3_000)}`),
    ],
    [
      'layers upon layers',
      bounded,
      svg(`${'<g opacity=".5">'.repeat(120)}${rect}${'</g>'.repeat(120)}`),
    ],
  ] as const
).map(([what, statuses, document]) => ({ what, statuses, document }));

export const endless = svg('<circle r="3000" opacity=".99"/>'.repeat(60_000));
