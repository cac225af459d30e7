import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import t from 'tap';
import { svg as svgOf } from '../../hostile/inputs/svgs.ts';
import { listen } from '../../listen.ts';
import { openPool, patient } from '../execution/pools.ts';
import { plain } from '../rendering/drawn.ts';
import { near, pixels, red, shared, variant } from '../rendering/pictures.ts';

const pool = openPool(t);

const svg = (inner: string) => shared(svgOf(inner, 'width="100" height="50"'));

t.test('loads no external resource', async (t) => {
  const folder = t.testdir({
    'style.css': 'rect { fill: red }',
    'part.svg':
      '<svg xmlns="http://www.w3.org/2000/svg"><rect id="r" width="100" height="50" fill="red"/></svg>',
  });
  const png = await plain(9, 9, red);
  writeFileSync(join(folder, 'red.png'), png);
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end(png);
  });
  const web = `http://127.0.0.1:${await listen(t, server)}`;
  const file = (name: string) => pathToFileURL(join(folder, name)).href;

  const full = 'width="100" height="50"';
  const inside: Record<string, string> = {
    'file URL': `<image href="${file('red.png')}" ${full}/>`,
    path: `<image xlink:href="${join(folder, 'red.png')}" ${full}/>`,
    'web URL': `<image href="${web}/red.png" ${full}/>`,
    feImage: `<filter id="f"><feImage href="${web}/red.png"/></filter><rect ${full} fill="none" filter="url(#f)"/>`,
    'use of another file': `<use href="${file('part.svg')}#r"/>`,
    'use of another site': `<use href="${web}/part.svg#r"/>`,
    'style sheet': `<style>@import url("${file('style.css')}"); @import url("${web}/s.css");</style><rect ${full} fill="none"/>`,
    script: `<script href="${web}/s.js"/><foreignObject ${full}><iframe src="${web}/"/></foreignObject>`,
    pattern: `<rect ${full} fill="url(${file('part.svg')}#r)"/>`,
  };
  for (const [name, content] of Object.entries(inside)) {
    const { body } = await pool.transform(svg(content), variant(), patient);
    const values = await sharp(body).removeAlpha().raw().toBuffer();
    t.same([...new Set(values)], [0], name);
  }
  const linked = `<?xml-stylesheet href="${file('style.css')}"?><!DOCTYPE svg SYSTEM "${web}/svg.dtd"><svg xmlns="http://www.w3.org/2000/svg" ${full}><rect ${full} fill="none"/></svg>`;
  const { body } = await pool.transform(shared(linked), variant(), patient);
  t.same((await pixels(body)).at(50, 25), [0, 0, 0, 0], 'linked style sheet and document type');
  t.same(requests, [], 'no request was made');
});

t.test('rasterises embedded images', async (t) => {
  const base64 = (await plain(9, 9, red)).toString('base64');
  for (const data of [base64, base64.replace(/.{20}/g, '$&&#10;')]) {
    const image = `<image href="data:image/png;base64,${data}" width="100" height="50" preserveAspectRatio="none"/>`;
    const { body } = await pool.transform(svg(image), variant(), patient);
    t.ok(near((await pixels(body)).at(50, 25), red));
  }
});
