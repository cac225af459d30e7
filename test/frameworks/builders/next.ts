import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { freePort } from '../../service/service.ts';
import { until } from '../../until.ts';
import { failure, newFolder } from '../app.ts';
import type { Builder, BuiltUrl } from './builder.ts';
import { buildWithUnpic } from './unpic.ts';

/** The page has images of each kind of size, and each quality. */
const page = (source: string) => `
import Image from 'next/image';
const src = ${JSON.stringify(source)};
export default function Page() {
  return (
    <main>
      <Image src={src} alt="" width={100} height={63} />
      <Image src={src} alt="" width={600} height={375} quality={40} />
      <Image src={src} alt="" width={1600} height={1000} sizes="100vw" />
      <Image src={src} alt="" width={1600} height={1000} sizes="33vw" quality={90} />
      <Image src={src} alt="" fill sizes="(min-width: 900px) 50vw, 100vw" quality={40} />
      <Image src="/a.jpg" alt="" width={1600} height={1000} sizes="33vw" />
      <Image src="/a.jpg" alt="" fill sizes="50vw" quality={90} />
      <Image src="/a.jpg" alt="" width={300} height={188} quality={40} />
      <Image src="/a.jpg" alt="" width={1600} height={1000} sizes="100vw" quality={40} />
    </main>
  );
}
`;

const layout = `
export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;

const configuration = `
export default {
  images: {
    qualities: [40, 75, 90],
    remotePatterns: [{ protocol: 'http', hostname: '127.0.0.1' }],
    localPatterns: [{ pathname: '/a.jpg' }],
    dangerouslyAllowLocalIP: true,
  },
};
`;

/** Builds an app of Next without a loader; resolves with the URLs of its page and the sizes of its own images. */
async function buildWithNext(parent: string, source: string): Promise<readonly BuiltUrl[]> {
  const packages = ['next@^16.4.6', 'react@^19.3.1', 'react-dom@^19.3.1'];
  const folder = await newFolder(join(parent, 'next-builder'), packages);
  await mkdir(join(folder, 'app'));
  await mkdir(join(folder, 'public'));
  await writeFile(join(folder, 'app/page.jsx'), page(source));
  await writeFile(join(folder, 'app/layout.jsx'), layout);
  await writeFile(join(folder, 'next.config.js'), configuration);
  const picture = await fetch(source);
  await writeFile(join(folder, 'public/a.jpg'), Buffer.from(await picture.arrayBuffer()));
  const problem = await failure(folder, ['next', 'build']);
  if (problem !== null) throw new Error(problem);
  const port = await freePort();
  const next = join(folder, 'node_modules/next/dist/bin/next');
  const args = [next, 'start', '--hostname', '127.0.0.1', '--port', String(port)];
  const app = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' });
  const ended = once(app, 'exit');
  try {
    const base = `http://127.0.0.1:${port}`;
    const html = await until('the page', () =>
      fetch(base).then(
        (response) => response.text(),
        () => false as const,
      ),
    );
    const written = html.match(/\/_next\/image\?[^\s",]+/g) ?? [];
    const urls = [...new Set(written.map((url) => url.replaceAll('&amp;', '&')))];
    const built: BuiltUrl[] = [];
    for (const url of urls) {
      const { searchParams } = new URL(url, base);
      const native = `dpr=1&fmt=auto&q=${searchParams.get('q')}&w=${searchParams.get('w')}`;
      const image = await fetch(base + url);
      const { width, height } = await sharp(await image.arrayBuffer()).metadata();
      built.push({ url, native, isSigned: false, theirSize: `${width} × ${height}` });
    }
    if (built.length < 40) throw new Error(`The page has only ${built.length} URLs.`);
    return built;
  } finally {
    app.kill('SIGKILL');
    await ended;
  }
}

/** Builds URLs with next/image in an app of Next, and with unpic. */
export const nextBuilder: Builder = {
  kind: 'next',
  signing: null,
  async build(parent, source) {
    const ofUnpic = await buildWithUnpic(parent, 'nextjs', source, ({ width, quality = 75 }) => {
      return `dpr=1&fmt=auto&q=${quality}&w=${width}`;
    });
    return [...(await buildWithNext(parent, source)), ...ofUnpic];
  },
};
