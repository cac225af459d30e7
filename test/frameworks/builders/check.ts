import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import sharp from 'sharp';
import { createClient } from '../../../sdk/src/client/index.ts';
import { picture, startTestOrigin } from '../../service/origin.ts';
import { startService } from '../../service/service.ts';
import { until } from '../../until.ts';
import type { Builder, BuiltUrl } from './builder.ts';
import { cloudflareBuilder } from './cloudflare.ts';
import { cloudinaryBuilder } from './cloudinary.ts';
import { imgixBuilder } from './imgix.ts';
import { imgproxyBuilder } from './imgproxy.ts';
import { nextBuilder } from './next.ts';
import { thumborBuilder } from './thumbor.ts';

const builders: readonly Builder[] = [
  cloudflareBuilder,
  cloudinaryBuilder,
  imgixBuilder,
  imgproxyBuilder,
  nextBuilder,
  thumborBuilder,
];
export const builderNames: readonly string[] = builders.map(({ kind }) => `urls-${kind}`);

const apiKey = 'sk_key-of-the-builders';

interface Image {
  readonly status: number;
  readonly etag: string | undefined;
  readonly size: string;
}

async function get(url: string, host: string): Promise<Image> {
  const sent = request(url, { headers: { host } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  const { statusCode: status = 0, headers } = response;
  if (status !== 200) return { status, etag: undefined, size: body.toString().slice(0, 300) };
  const { width, height } = await sharp(body).metadata();
  return { status, etag: headers.etag, size: `${width} × ${height}` };
}

/**
 * Requests the URLs from another service's builder at a delivery host. Resolves with URLs that
 * return different images than the native queries, and with URLs that the project accepted but must
 * reject.
 */
export async function checkBuilder(
  t: { teardown(action: () => unknown): void },
  name: string,
  folder: string,
): Promise<string[]> {
  const builder = builders.find(({ kind }) => `urls-${kind}` === name);
  if (builder === undefined) throw new Error(`no builder ${name}`);
  const { kind, signing } = builder;
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(1_600, 1_000));
  const service = await startService(t, { environment: { SERVICE_ROOT_API_KEY: apiKey } });
  const projectId = await service.project();
  const client = createClient({ baseUrl: service.url, apiKey });
  const host = `${kind}.shop.example`;
  await client.putProjectPreset({
    projectId,
    presetName: 'card',
    parameters: { w: 400, h: 300, fit: 'cover' },
  });
  await client.putProjectHost({ projectId, host, base: `${origin.url}/`, urls: kind });
  const source = `${origin.url}/a.jpg`;
  const native = `${service.url}/img/${encodeURIComponent(source)}?project=${projectId}&`;
  const urls = await builder.build(folder, source);
  const problems: string[] = [];
  const compare = async (built: BuiltUrl, expected: number): Promise<void> => {
    const { url, native: query, theirSize } = built;
    const found = await get(service.url + url, host);
    const same = expected === 200 ? await get(native + query, '127.0.0.1') : null;
    if (found.status !== expected) problems.push(`${url}: ${found.status} ${found.size}`);
    else if (same !== null && (found.etag !== same.etag || found.size !== same.size)) {
      problems.push(`${url}: ${found.size}, as ${query}: ${same.status} ${same.size}`);
    } else if (same !== null && theirSize !== undefined && found.size !== theirSize) {
      problems.push(`${url}: ${found.size}, at the other service ${theirSize}`);
    }
  };
  for (const url of urls) await compare(url, 200);
  const minUrls = signing === null ? 40 : 80;
  if (urls.length < minUrls) problems.push(`only ${urls.length} URLs`);

  if (signing !== null) {
    await client.putProjectUrlSecret({ projectId, ...signing });
    const { corrupt = (url: string) => url.replace(/^\/[^/]*/, `/${'A'.repeat(28)}`) } = builder;
    const wrong = corrupt(urls[1]?.url ?? '');
    await until('a wrong signature is refused', async () => {
      return (await get(service.url + wrong, host)).status === 403;
    });
    for (const url of urls) await compare(url, 200);
  }
  await service.admin('projects', 'sign', projectId);
  const [unsigned] = urls;
  await until('a signature is required', async () => {
    return (await get(service.url + (unsigned?.url ?? ''), host)).status === 403;
  });
  for (const url of urls) {
    if (!url.isSigned) await compare(url, 403);
    else {
      const { status, size } = await get(service.url + url.url, host);
      if (status !== 200) problems.push(`${url.url}, signed: ${status} ${size}`);
    }
  }
  return problems;
}
