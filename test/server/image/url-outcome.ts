import { ServiceError } from '../../../contract/errors.ts';
import { readOptions } from '../../../server/image/address.ts';
import { readRequestAddress } from '../../../server/image/host-address.ts';
import type { Site } from '../../../server/image/site.ts';

/** Returns a site with a host for a service's URLs. */
const createSite = (urls: string, base: string | null = null): Site => ({
  project: {
    _id: 'prj_0123456789abcdef',
    origin: 'https://shop.example/',
    allowedOrigins: ['shop.example', '*.cdn.example'],
    presets: { card: { w: 400, h: 300 } },
    stripMetadata: true,
  },
  host: { host: 'img.shop.example', base, urls, updatedAt: new Date(0) },
});

/** Returns the error of a URL as a text, or its source and native query. */
export function outcome(urls: string, url: string, base: string | null = null): string {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  try {
    const read = readRequestAddress(path, query, createSite(urls, base));
    const { source, unknown } = read;
    const size = { width: 1_600, height: 1_000 };
    const sized = read.kind === 'needsSize' ? read.resolve(size, { origin: '', accept: '' }) : read;
    const parameters = sized.kind === 'document' ? new Map<string, string>() : sized.parameters;
    readOptions(parameters);
    const native = new URLSearchParams([...parameters]);
    native.sort();
    return [source.href, native, ...unknown].join(' ');
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code}: ${error.message}`;
    throw error;
  }
}
