import t from 'tap';
import { openPool, patient } from '../execution/pools.ts';
import { claimingPng, noise, shared, variant } from '../rendering/pictures.ts';

const pool = openPool(t, { sourceMaxPixels: 1_000_000 });
const open = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50">';
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const image = (href: string) => `${open}<image href="${href}"/></svg>`;
const escaped = (text: string) => [...text].map((c) => `&#${c.charCodeAt(0)};`).join('');

const style = (sheet: string) => `${open}<style>${sheet}</style><rect/></svg>`;

const small = base64(await noise(300, 300).png().toBuffer());
const large = `data:image/png;base64,${base64(claimingPng(2000, 2000, 1))}`;
const nested = `data:image/svg+xml;base64,${base64(Buffer.from(`${open}</svg>`))}`;
const entities = `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`;

const refused: readonly [what: string, document: string, code: string][] = [
  ['entities', `${entities}${open}<text>&b;</text></svg>`, 'source_unsupported'],
  [
    'an external entity',
    `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/hosts">]>${open}<text>&a;</text></svg>`,
    'source_unsupported',
  ],
  [
    'an internal subset after a quoted bracket',
    `<!DOCTYPE svg SYSTEM "a>b" [<!ENTITY a "b">]>${open}</svg>`,
    'source_unsupported',
  ],
  [
    'a subset behind what looks like a short comment',
    `<!--><svg --><!DOCTYPE svg [<!ENTITY a "b">]>${open}</svg>`,
    'source_unsupported',
  ],
  [
    'a subset behind what looks like a short instruction',
    `<?><svg ?><!DOCTYPE svg [<!ENTITY a "b">]>${open}</svg>`,
    'source_corrupt',
  ],
  [
    'an encoding that hides elements',
    `<?xml version="1.0" encoding="UTF-7"?>${open}</svg>`,
    'source_unsupported',
  ],
  [
    'a subset behind what looks like the end of the document type',
    `<!DOCTYPE svg SYSTEM "><svg " [<!ENTITY a "b">]>${open}<text>&a;</text></svg>`,
    'source_unsupported',
  ],
  [
    'an included document',
    `${open}<x:include xmlns:x="http://www.w3.org/2001/XInclude" parse="xml" href="${nested}"/></svg>`,
    'source_unsupported',
  ],
  [
    'a style sheet in a style sheet',
    style('@import url("data:text/css,a{}")'),
    'source_unsupported',
  ],
  [
    'one with an escaped address',
    style('@import "\\64 at\\61:text/css,a{}"'),
    'source_unsupported',
  ],
  [
    'a linked style sheet that is embedded',
    `<?xml-stylesheet type="text/css" href="data:text/css,a{}"?>${open}</svg>`,
    'source_unsupported',
  ],
  ['a drawing that is used', `${open}<use href="${nested}#a"/></svg>`, 'source_unsupported'],
  ['a drawing that fills', `${open}<rect fill="url(${nested}#a)"/></svg>`, 'source_unsupported'],
  [
    'one in a style attribute',
    `${open}<rect style="mask:url('${nested}#a')"/></svg>`,
    'source_unsupported',
  ],
  ['one in a style sheet', style(`rect{filter:url("${nested}#a")}`), 'source_unsupported'],
  [
    'a picture in the attribute of old drawings',
    `${open}<image path="${large}"/></svg>`,
    'source_too_large',
  ],
  [
    'an element that uses itself',
    `${open}<g id="a"><use href="#a"/></g></svg>`,
    'source_unsupported',
  ],
  ['deep nesting', `${open}${'<g>'.repeat(300)}${'</g>'.repeat(300)}</svg>`, 'source_unsupported'],
  ['a page that holds a drawing', `<html>${open}</svg></html>`, 'source_unsupported'],
  ['a large embedded picture', image(large), 'source_too_large'],
  [
    'one with an escaped address',
    image(escaped(large.slice(0, 30)) + large.slice(30)),
    'source_too_large',
  ],
  [
    'one with white space in its address',
    image(` \n${large.slice(0, 9)}\t\n${large.slice(9)}`),
    'source_too_large',
  ],
  [
    'one with percent escapes',
    image(large.replace('base64,iVBOR', 'base64,%69VBOR')),
    'source_too_large',
  ],
  [
    'one with a namespace prefix',
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:s="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink"><s:image x:href='${large}'/></svg>`,
    'source_too_large',
  ],
  [
    'one in a filter',
    `${open}<filter><feImage href="${large}"/></filter></svg>`,
    'source_too_large',
  ],
  [
    'one behind a quote in a comment',
    `${open}<!-- <image " --><image href="${large}"/></svg>`,
    'source_too_large',
  ],
  [
    'many pictures that are large together',
    `${open}${`<image href="data:;base64,${small}"/>`.repeat(12)}</svg>`,
    'source_too_large',
  ],
  [
    'very many pictures',
    `${open}${'<image href="data:,x"/>'.repeat(300)}</svg>`,
    'source_unsupported',
  ],
  ['a drawing inside the drawing', image(nested), 'source_unsupported'],
  [
    'one that does not tell its type',
    image(nested.replace('image/svg+xml', '')),
    'source_unsupported',
  ],
  [
    'one that begins like a picture',
    image(`data:image/svg+xml,GIF89a${escaped(open)}`),
    'source_unsupported',
  ],
  [
    'an embedded picture of unknown kind',
    image('data:image/png;base64,AAAA'),
    'source_unsupported',
  ],
  ['an element that does not end', `${open}<rect`, 'source_corrupt'],
  [
    'no size at all',
    '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0"/>',
    'source_corrupt',
  ],
];

for (const [what, document, code] of refused) {
  t.test(what, async (t) => {
    await t.rejects(pool.transform(shared(document), variant(), patient), { code });
  });
}

t.test('a filter with many steps is drawn small enough for all its surfaces', async (t) => {
  const steps = '<feFlood flood-color="red"/>'.repeat(253);
  const filtered = `<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000"><filter id="f">${steps}</filter><rect width="100" height="100" filter="url(#f)"/></svg>`;
  const made = await pool.transform(shared(filtered), variant({ width: 4000 }), patient);
  t.same([made.width, made.height], [724, 724]);
});
