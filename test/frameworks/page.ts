import type { Browser } from 'playwright-core';
import sharp from 'sharp';

/** An image that a page refers to. */
export interface PageImage {
  readonly url: string;
  /** Such as `640w` or `2x`; empty for a `src`. */
  readonly descriptor: string;
  /** The width in the layout, CSS pixels. */
  readonly layoutWidth: number;
}

export interface Visit {
  readonly images: readonly PageImage[];
  /** What is wrong with the page, in words. */
  readonly problems: readonly string[];
}

/** Runs in the page before its own scripts. */
const observeShifts = `globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shifts.push('layout shift: ' + JSON.stringify(entry));
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Runs in the page: gives its images, and as problems those that were not loaded and layout shifts. */
const readPage = `(async () => {
  for (const image of document.images) image.loading = 'eager';
  for (const image of document.images) await image.decode().catch(() => {});
  const parts = (element, name, layoutWidth) =>
    (element.getAttribute(name) ?? '')
      .split(/,\\s+/)
      .filter((part) => part !== '')
      .map((part) => part.trim().split(' '))
      .map(([url, descriptor = '']) => ({ url, descriptor, layoutWidth }));
  const images = [...document.images].flatMap((image) => {
    const { width } = image.getBoundingClientRect();
    const sources = image.parentElement.querySelectorAll(':scope > source');
    return [
      ...parts(image, 'src', width),
      ...[image, ...sources].flatMap((element) => parts(element, 'srcset', width)),
    ];
  });
  const broken = [...document.images]
    .filter((image) => image.naturalWidth === 0)
    .map((image) => 'not loaded: ' + image.currentSrc);
  return { images, problems: [...broken, ...shifts] };
})()`;

/** Opens a page as a screen of a width in CSS pixels has it. */
export async function visit(
  browser: Browser,
  url: string,
  width: number,
  deviceScaleFactor: number,
): Promise<Visit> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, deviceScaleFactor });
  try {
    const problems: string[] = [];
    page.on('console', (message) => problems.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
    });
    await page.addInitScript({ content: observeShifts });
    await page.goto(url, { waitUntil: 'networkidle' });
    const read = await page.evaluate<Visit>(readPage);
    return { images: read.images, problems: [...problems, ...read.problems] };
  } finally {
    await page.close();
  }
}

/** What is wrong with an image of a page, or null. Images of `srcset`s have the width that it says. */
export async function check({ url, descriptor, layoutWidth }: PageImage): Promise<string | null> {
  if (url.startsWith('data:')) return null;
  const response = await fetch(url, { headers: { accept: 'image/webp,*/*' } });
  if (!response.ok) return `${response.status} ${url}: ${await response.text()}`;
  const { width = 0 } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
  const asked = Number(new URL(url).searchParams.get('w') ?? width);
  const amount = Number.parseFloat(descriptor);
  const said = descriptor.endsWith('w') ? amount : asked;
  if (width !== said || width !== asked) return `${width} px instead of ${descriptor}: ${url}`;
  const isSmall = descriptor.endsWith('x') && width < Math.floor(amount * layoutWidth);
  return isSmall ? `${width} px are less than ${descriptor} of ${layoutWidth}: ${url}` : null;
}
