import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newFolder } from '../app.ts';
import type { BuiltUrl } from './builder.ts';

const run = promisify(execFile);

/** An image that a page requests from unpic. */
export interface Operations {
  readonly width: number;
  readonly height?: number;
  readonly format?: string;
  readonly quality?: number;
}

const rows: readonly Operations[] = [40, 200, 301, 800, 1_600].flatMap((width) =>
  [undefined, Math.ceil(width / 2)].flatMap((height) =>
    [undefined, 'webp', 'png'].flatMap((format) =>
      [undefined, 60].map((quality) => ({
        width,
        ...(height !== undefined && { height }),
        ...(format !== undefined && { format }),
        ...(quality !== undefined && { quality }),
      })),
    ),
  ),
);

const program = `
import { readFileSync } from 'node:fs';
import { transformUrl } from 'unpic';
const { url, provider, rows } = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(rows.map((row) => String(transformUrl({ url, provider, ...row })))));
`;

/**
 * Builds unsigned URLs with unpic.
 * @param parent the parent for a new folder with unpic
 * @param url URL of the service that unpic calls `provider`
 * @param native returns the query for the same image
 */
export async function buildWithUnpic(
  parent: string,
  provider: string,
  url: string,
  native: (operations: Operations) => string,
): Promise<readonly BuiltUrl[]> {
  const folder = join(parent, 'unpic-builder');
  if (!existsSync(folder)) await newFolder(folder, ['unpic']);
  await writeFile(join(folder, 'build.mjs'), program);
  const running = run(process.execPath, ['build.mjs'], { cwd: folder });
  running.child.stdin?.end(JSON.stringify({ url, provider, rows }));
  const built: readonly string[] = JSON.parse((await running).stdout);
  return rows.map((row, index) => {
    // Of some providers only the path.
    const { pathname, search } = new URL(built[index] ?? '', 'https://shop.example');
    return { url: `${pathname}${search}`, native: native(row), isSigned: false };
  });
}

/** Returns the native query: unpic crops to the box and does not scale up. */
export function unpicQuery({ width, height, format = 'auto', quality }: Operations): string {
  const box = height === undefined ? '' : `&fit=cover&h=${height}`;
  const q = quality === undefined ? '' : `&q=${quality}`;
  return `dpr=1&fmt=${format}&w=${width}${box}${q}`;
}
