import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import sharp from 'sharp';
import { createClient } from '../../sdk/src/client/index.ts';
import { executablePath, noChromium } from '../service/chromium.ts';
import { startTestOrigin } from '../service/origin.ts';
import { startService } from '../service/service.ts';
import { newFolder } from './app.ts';
import type { Report } from './stage.ts';

const run = promisify(execFile);
const apiKey = 'sk_key-of-the-iiif-clients';
const host = 'iiif.shop.example';
/** Longer than an installation, and a zoom on a busy machine. */
const patienceMs = 5 * 60_000;
const versions = [
  { version: '3.0', prefix: 'iiif/3' },
  { version: '2.0', prefix: 'iiif/2' },
];

/** Runs a script with a name that no resolver has. */
const atLocalhost = `
import runpy, socket, sys
resolve = socket.getaddrinfo
socket.getaddrinfo = lambda name, *rest: resolve('127.0.0.1' if name == '${host}' else name, *rest)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name='__main__')
`;
const printColours =
  'import json; from iiif_validator.validator import ValidationInfo as i; print(json.dumps(i().colorInfo))';

/** The image in the viewer: 40 megapixels. */
const big = { width: 8_000, height: 5_000 };
type Rgb = readonly [number, number, number];
/** Returns the colour at a point: smooth, so that every scale shows it, and unique to the point. */
const colourAt = (x: number, y: number): Rgb => [
  (255 * x) / big.width,
  (255 * y) / big.height,
  128 + 100 * Math.sin(x / 600) * Math.cos(y / 500),
];

function pixels(width: number, height: number, at: (x: number, y: number) => Rgb): Buffer {
  const buffer = Buffer.alloc(width * height * 3);
  for (let y = 0, i = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      for (const channel of at(x, y)) {
        buffer[i] = channel;
        i += 1;
      }
    }
  }
  return buffer;
}

const encoded = (buffer: Buffer, width: number, height: number) =>
  sharp(buffer, { raw: { width, height, channels: 3 } });

interface Host {
  /** The host with its port. */
  readonly server: string;
  readonly port: number;
}

/**
 * Checks a delivery host for IIIF with the official validator, from PyPI, and with OpenSeadragon in
 * Chromium.
 * @param screenshot a file for screenshots of the viewer, or null
 */
export async function checkIiif(
  t: { teardown(action: () => unknown): void },
  parent: string,
  report: Report,
  screenshot: string | null,
): Promise<void> {
  const service = await startService(t, { environment: { SERVICE_ROOT_API_KEY: apiKey } });
  const { port } = service;
  const origin = await startTestOrigin(t);
  const projectId = await service.project();
  const client = createClient({ baseUrl: service.url, apiKey });
  await client.putProjectHost({ projectId, host, base: `${origin.url}/`, urls: 'iiif' });
  const server = `${host}:${port}`;

  const python = await installValidator(join(parent, 'iiif-validator'));
  const { stdout } = await run(python, ['-c', printColours]);
  const colours: Rgb[][] = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  const square = (at: number) => Math.floor(at / 100);
  const squares = pixels(1_000, 1_000, (x, y) => colours[square(x)]?.[square(y)] ?? [0, 0, 0]);
  origin.serve('/squares-67352ccc.png', await encoded(squares, 1_000, 1_000).png().toBuffer());
  for (const { version, prefix } of versions) {
    const printed = await validate(python, { server, port }, version, prefix);
    report(`iiif: validator, version ${version}, level 2: ${printed.last}`, printed.failures);
  }

  const picture = encoded(pixels(big.width, big.height, colourAt), big.width, big.height);
  origin.serve('/big.jpg', await picture.jpeg({ quality: 90 }).toBuffer());
  const folder = await newFolder(join(parent, 'openseadragon'), ['openseadragon']);
  for (const { version, prefix } of versions) {
    const file = screenshot?.replace('.png', `-${version}.png`) ?? null;
    const title = `iiif: OpenSeadragon, version ${version}`;
    report(title, await zoom(folder, `http://${server}/${prefix}/big.jpg/info.json`, file));
  }
}

/** Installs the validator; resolves with its Python. */
async function installValidator(folder: string): Promise<string> {
  await run('python3', ['-m', 'venv', folder]);
  const python = join(folder, 'bin/python');
  await run(python, ['-m', 'pip', 'install', '--quiet', 'iiif-validator'], { timeout: patienceMs });
  await writeFile(join(folder, 'at-localhost.py'), atLocalhost);
  return python;
}

async function validate(python: string, { server }: Host, version: string, prefix: string) {
  const folder = join(python, '..');
  const script = [join(folder, '../at-localhost.py'), join(folder, 'iiif-validate.py')];
  const options = ['-s', server, '-p', prefix, '-i', 'squares-67352ccc.png'];
  const args = [...script, ...options, '--version', version, '--level', '2'];
  const { stdout, stderr, code } = await run(python, args, { timeout: patienceMs }).then(
    (printed) => ({ ...printed, code: 0 }),
    (error) => error,
  );
  const lines = `${stdout}${stderr}`.trim().split('\n');
  return { last: lines.at(-1) ?? '', failures: code === 0 ? [] : lines };
}

/** Opens a viewer, zooms in at three points, and compares the canvas with the image. */
async function zoom(folder: string, url: string, screenshot: string | null): Promise<string[]> {
  if (noChromium !== false) throw new Error(noChromium);
  const args = ['--no-sandbox', `--host-resolver-rules=MAP ${host} 127.0.0.1`];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await browser.newPage({ viewport: { width: 1_000, height: 625 } });
    page.setDefaultTimeout(patienceMs);
    let tiles = 0;
    const failed: string[] = [];
    page.on('response', (response) => {
      if (response.ok()) tiles += 1;
      else failed.push(`${response.status()} ${response.url()}`);
    });
    await page.setContent('<body style="margin:0"><div id="viewer" style="height:625px"></div>');
    const script = join(folder, 'node_modules/openseadragon/build/openseadragon/openseadragon.js');
    await page.addScriptTag({ path: script });
    const wrong: string[] = [];
    for (const [step, [x, y, scale]] of [
      [0.5, 0.5, 0],
      [0.2, 0.3, 4],
      [0.9, 0.8, 8],
    ].entries()) {
      const began = performance.now();
      const before = tiles;
      const found = await page.evaluate(look, { url, x, y, scale } as View);
      wrong.push(...found.flatMap((point) => differences(point)));
      const seconds = (performance.now() - began) / 1_000;
      const rate = `${tiles - before} responses in ${seconds.toFixed(1)} s`;
      process.stdout.write(`  zoom ${step}: ${rate}\n`);
      if (screenshot !== null) {
        await page.screenshot({ path: screenshot.replace('.png', `-${step}.png`) });
      }
    }
    if (tiles < 10) wrong.push(`only ${tiles} responses`);
    return [...failed, ...wrong];
  } finally {
    await browser.close();
  }
}

interface View {
  readonly url: string;
  /** The centre, in parts of the width and the height. */
  readonly x: number;
  readonly y: number;
  /** Zoom scale; 0 for the whole image. */
  readonly scale: number;
}

interface Point {
  /** Position in image pixels. */
  readonly x: number;
  readonly y: number;
  readonly rgb: Rgb;
}

/**
 * Runs in the page: shows part of the image, and returns the colours at nine points of the viewer.
 */
async function look({ url, x, y, scale }: View): Promise<Point[]> {
  // biome-ignore lint/suspicious/noExplicitAny: the library comes untyped
  const window = globalThis as any;
  const { OpenSeadragon } = window;
  if (window.deepZoom === undefined) {
    window.deepZoom = OpenSeadragon({
      id: 'viewer',
      tileSources: url,
      crossOriginPolicy: 'Anonymous',
      drawer: 'canvas',
      showNavigationControl: false,
      immediateRender: false,
      animationTime: 0,
      blendTime: 0,
    });
    await new Promise((resolve, reject) => {
      window.deepZoom.addOnceHandler('open', resolve);
      window.deepZoom.addOnceHandler('open-failed', reject);
    });
  }
  const { viewport, world, drawer } = window.deepZoom;
  const item = world.getItemAt(0);
  const size = item.getContentSize();
  if (scale === 0) viewport.goHome(true);
  else {
    viewport.zoomTo(scale, null, true);
    viewport.panTo(new OpenSeadragon.Point(x, (y * size.y) / size.x), true);
  }
  // The viewer requests tiles in the next frames.
  for (let frame = 0; frame < 5 || !item.getFullyLoaded(); frame += 1) {
    await new Promise((next) => window.requestAnimationFrame(next));
  }
  while (drawer.viewer.world.needsDraw() || item.getOpacity() < 1) {
    await new Promise((next) => window.requestAnimationFrame(next));
  }
  const { canvas } = drawer;
  const context = canvas.getContext('2d');
  const points: Point[] = [];
  for (const across of [0.1, 0.5, 0.9]) {
    for (const down of [0.1, 0.5, 0.9]) {
      const { clientWidth, clientHeight } = canvas;
      const at = new OpenSeadragon.Point(across * clientWidth, down * clientHeight);
      const inImage = item.viewerElementToImageCoordinates(at);
      const [r, g, b] = context.getImageData(
        across * canvas.width,
        down * canvas.height,
        1,
        1,
      ).data;
      points.push({ x: inImage.x, y: inImage.y, rgb: [r, g, b] });
    }
  }
  return points;
}

/** The largest difference of a channel from the image: JPEG, scaling and rounding to pixels. */
const tolerance = 8;

function differences({ x, y, rgb }: Point): string[] {
  const expected = colourAt(x, y);
  const isNear = rgb.every(
    (value, channel) => Math.abs(value - (expected[channel] ?? 0)) <= tolerance,
  );
  const texts = [rgb, expected].map((colour) => colour.map(Math.round).join());
  return isNear ? [] : [`at ${Math.round(x)},${Math.round(y)}: ${texts[0]} instead of ${texts[1]}`];
}
