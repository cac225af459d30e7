import type { Browser } from 'playwright-core';

/** Enough for a busy machine to encode a page's images. */
const patienceMs = 5 * 60_000;

/** An image that a page refers to. */
export interface PageImage {
  readonly url: string;
  /** Descriptor such as `640w` or `2x`; empty for a `src`. */
  readonly descriptor: string;
  /** Layout width in CSS pixels, from the attribute if it exists. */
  readonly layoutWidth: number;
}

/** An image as a page shows it: width and height, CSS pixels. */
export interface ShownImage {
  /** Sides from the attributes; 0 if absent. */
  readonly attributes: Sides;
  /** Box in the layout. */
  readonly box: Sides;
  readonly natural: Sides;
}

type Sides = readonly [width: number, height: number];

export interface Visit {
  readonly images: readonly PageImage[];
  readonly shown: readonly ShownImage[];
  /** Faults of the page, in words. */
  readonly problems: readonly string[];
}

export interface Screen {
  /** CSS pixels. */
  readonly width: number;
  readonly deviceScaleFactor: number;
}

/** Runs in the page before its own scripts. */
const observeShifts = `globalThis.shifts = [];
  const keep = (list) => {
    for (const entry of list) if (!entry.hadRecentInput) shifts.push('layout shift: ' + JSON.stringify(entry));
  };
  const observer = new PerformanceObserver((list) => keep(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  globalThis.readShifts = () => (keep(observer.takeRecords()), shifts);`;

/**
 * Runs in the page: returns its images, and reports unloaded images and layout shifts as problems.
 */
const readPage = `(async () => {
  for (const image of document.images) image.loading = 'eager';
  for (const image of document.images) await image.decode().catch(() => {});
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  const parts = (element, name, layoutWidth) =>
    (element.getAttribute(name) ?? '')
      .split(/,\\s+/)
      .filter((part) => part !== '')
      .map((part) => part.trim().split(' '))
      .map(([url, descriptor = '']) => ({ url: new URL(url, location).href, descriptor, layoutWidth }));
  const images = [...document.images].flatMap((image) => {
    const layoutWidth = Number(image.getAttribute('width')) || image.getBoundingClientRect().width;
    const sources = image.parentElement.querySelectorAll(':scope > source');
    return [
      ...parts(image, 'src', layoutWidth),
      ...[image, ...sources].flatMap((element) => parts(element, 'srcset', layoutWidth)),
    ];
  });
  const broken = [...document.images]
    .filter((image) => image.naturalWidth === 0)
    .map((image) => 'not loaded: ' + image.currentSrc);
  const sides = ({ width, height }) => [Number(width), Number(height)];
  const shown = [...document.images].map((image) => ({
    attributes: sides({ width: image.getAttribute('width'), height: image.getAttribute('height') }),
    box: sides(image.getBoundingClientRect()),
    natural: [image.naturalWidth, image.naturalHeight],
  }));
  return { images, shown, problems: [...broken, ...readShifts()] };
})()`;

/**
 * Opens a page on a screen.
 * @param expected messages that the page is allowed to write to the console
 */
export async function visit(
  browser: Browser,
  url: string,
  { width, deviceScaleFactor }: Screen,
  expected?: RegExp,
): Promise<Visit> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, deviceScaleFactor });
  try {
    const problems: string[] = [];
    page.on('console', (message) => {
      if (!expected?.test(message.text())) problems.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
    page.on('requestfailed', (request) => {
      problems.push(`${request.failure()?.errorText} ${request.url()}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
    });
    await page.addInitScript({ content: observeShifts });
    await page.goto(url, { waitUntil: 'networkidle', timeout: patienceMs });
    const read = await page.evaluate<Visit>(readPage);
    return { ...read, problems: [...problems, ...read.problems] };
  } finally {
    await page.close();
  }
}
