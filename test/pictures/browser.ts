import { chromium, type Page } from 'playwright-core';
import { executablePath } from '../service/chromium.ts';
import type { Size } from './compare.ts';
import { maxOutput } from './reference.ts';

/** Chromium, which draws images like an `<img>` on a page. */
export interface Browser {
  /**
   * Draws an image with its size in CSS pixels.
   * @param size result size, used if the page decides (an SVG with no size), if the service limits
   * it, or always
   * @returns a PNG
   * @throws Error if the browser does not show the image
   */
  draw(path: string, size: Size | null, always: boolean): Promise<Buffer>;
  close(): Promise<void>;
}

const timeoutMs = 60_000;
/** A page keeps decoded images, so replace it after this number. */
const drawingsPerPage = 200;

/**
 * Runs in the page. A width that no image uses shows whether the image's size depends on the page.
 * A canvas is sRGB, whatever the screen is. A page cannot read a canvas that contains an SVG with a
 * foreignObject, so such an image stays in the page for a screenshot.
 */
const script = `globalThis.draw = async (path, given, always, max) => {
  const image = new Image();
  const frame = document.createElement('div');
  frame.style.width = '7777px';
  image.src = path;
  frame.append(image);
  document.body.append(frame);
  try {
    await image.decode();
    const natural = { width: image.naturalWidth, height: image.naturalHeight };
    const isOpen = image.getBoundingClientRect().width === 7777;
    const isLarge = Math.max(natural.width, natural.height) > max.side || natural.width * natural.height > max.pixels;
    const { width, height } = given !== null && (always || isOpen || isLarge) ? given : natural;
    if (width === 0 || height === 0) throw new Error('The picture has no size.');
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext('2d').drawImage(image, 0, 0, width, height);
    const blob = await canvas.convertToBlob().catch(() => null);
    if (blob === null) {
      image.style.width = width + 'px';
      image.style.height = height + 'px';
      document.body.append(image);
      return null;
    }
    const reader = new FileReader();
    reader.readAsDataURL(blob);
    await new Promise((resolve) => (reader.onload = resolve));
    return reader.result.slice(reader.result.indexOf(',') + 1);
  } finally {
    frame.remove();
  }
}`;

/** @param url URL of a server with the images, and an empty page at `/page` */
export async function startBrowser(url: string): Promise<Browser> {
  const args = ['--no-sandbox', '--force-color-profile=srgb'];
  // The program stops after an image, and closes the browser itself.
  const signals = { handleSIGINT: false, handleSIGTERM: false };
  const browser = await chromium.launch({ executablePath, args, ...signals });
  let page: Page | null = null;
  let drawings = 0;
  const renew = async (): Promise<Page> => {
    await page?.close();
    page = await browser.newPage();
    await page.goto(`${url}/page`);
    await page.evaluate(script);
    drawings = 0;
    return page;
  };
  return {
    async draw(path, size, always) {
      const current = page === null || drawings >= drawingsPerPage ? await renew() : page;
      drawings += 1;
      const call = `draw(${JSON.stringify([path, size && { width: size.width, height: size.height }, always, maxOutput]).slice(1, -1)})`;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('Chromium takes too long.')), timeoutMs);
      });
      try {
        const drawn = await Promise.race([current.evaluate<string | null>(call), late]);
        if (drawn !== null) return Buffer.from(drawn, 'base64');
        drawings = drawingsPerPage;
        return await current.locator('img').screenshot({ omitBackground: true });
      } catch (error) {
        if (!String(error).includes('EncodingError')) drawings = drawingsPerPage;
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => browser.close(),
  };
}
