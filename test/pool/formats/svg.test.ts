import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import t from 'tap';
import { openPool, patient } from '../execution/pools.ts';
import { plain } from '../rendering/drawn.ts';
import { near, pixels, red, shared, variant } from '../rendering/pictures.ts';

const pool = openPool(t);
const clear = [0, 0, 0, 0];

function svg(inner: string, size = 'width="100" height="50"'): Uint8Array {
  return shared(
    `<?xml version="1.0" encoding="UTF-8"?><!-- drawn --><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${size}>${inner}</svg>`,
  );
}

const rectangle = '<rect width="50" height="50" fill="red"/>';

t.test('an SVG is rasterised at the requested size, with sharp edges', async (t) => {
  for (const width of [10, 100, 101, 1000]) {
    const made = await pool.transform(svg(rectangle), variant({ width }), patient);
    t.same([made.width, made.height], [width, Math.round(width / 2)]);
    const seen = await pixels(made.body);
    t.ok(near(seen.at(Math.floor(width / 2) - 2, 2), red), `${width}: left of the edge`);
    t.ok(near(seen.at(Math.ceil(width / 2) + 2, 2), clear), `${width}: right of it`);
  }
});

t.test('every fit is applied', async (t) => {
  for (const fit of ['cover', 'contain', 'fill'] as const) {
    const asked = variant({ width: 300, height: 300, fit });
    const made = await pool.transform(svg(rectangle), asked, patient);
    t.same([made.width, made.height], [300, 300], fit);
    t.ok(near((await pixels(made.body)).at(fit === 'contain' ? 148 : 145, 150), red), fit);
  }
});

t.test('the default output format is PNG', async (t) => {
  const made = await pool.transform(svg(rectangle), variant({ formats: [] }), patient);
  t.equal(made.contentType, 'image/png');
  t.equal((await sharp(made.body).metadata()).format, 'png');
});

t.test('a huge SVG is rasterised at a smaller size', async (t) => {
  const huge = svg('<rect width="50%" height="100%" fill="red"/>', 'width="60000" height="30000"');
  const made = await pool.transform(huge, variant({ width: 200 }), patient);
  t.same([made.width, made.height], [200, 100]);
  t.ok(near((await pixels(made.body)).at(50, 50), red));
});

t.test('no external resource is loaded', async (t) => {
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
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const web = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
    const { data } = await sharp(body).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    t.ok(
      data.every((value) => value === 0),
      name,
    );
  }
  const linked = `<?xml-stylesheet href="${file('style.css')}"?><!DOCTYPE svg SYSTEM "${web}/svg.dtd"><svg xmlns="http://www.w3.org/2000/svg" ${full}><rect ${full} fill="none"/></svg>`;
  const { body } = await pool.transform(shared(linked), variant(), patient);
  t.ok(near((await pixels(body)).at(50, 25), clear), 'linked style sheet and document type');
  t.same(requests, [], 'no request was made');
});

t.test('embedded images are rasterised', async (t) => {
  const base64 = (await plain(9, 9, red)).toString('base64');
  const lines = base64.replace(/.{20}/g, '$&&#10;');
  for (const href of [`data:image/png;base64,${base64}`, `data:image/png;base64,${lines}`]) {
    const drawing = svg(
      `<image href="${href}" width="100" height="50" preserveAspectRatio="none"/>`,
    );
    const { body } = await pool.transform(drawing, variant(), patient);
    t.ok(near((await pixels(body)).at(50, 25), red));
  }
});
