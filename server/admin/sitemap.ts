import { gunzipSync } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { CommandError, ServiceError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { percentDecode } from '../../contract/url-text.ts';
import { Sources } from '../../pool/source/sources.ts';
import type { Project } from '../../store/projects.ts';
import { isAllowedHost } from '../image/access.ts';
import { imagePrefix } from '../image/address.ts';

/** Bounds for what a site can make the command fetch and queue. */
const limits = { sitemaps: 100, pages: 1_000, images: 10_000 };
/** The maximum of the sitemap protocol, uncompressed. */
const maxSitemapBytes = 50 * 1024 * 1024;
/** Images further down a page are not found. */
const maxPageCharacters = 2 * 1024 * 1024;

export interface SiteImages {
  readonly images: readonly string[];
  /** Images on hosts that the project does not allow. */
  readonly skipped: number;
  readonly unreadable: readonly string[];
  /** What is too long to be read whole, such as `pages`. */
  readonly exceeded: readonly string[];
}

/**
 * Finds a site's images: those that its sitemaps list (`image:loc`), and those of pages without
 * any. Fetches only from hosts that the project allows, with the checks of every source.
 *
 * @param onProgress called after each document
 * @throws CommandError if the first sitemap cannot be read
 */
export async function findSiteImages(
  sitemap: URL,
  project: Project,
  settings: Settings,
  onProgress: (documents: number, images: number) => void,
): Promise<SiteImages> {
  const sources = new Sources(settings);
  const { signal } = new AbortController();
  const isAllowed = (host: string) => isAllowedHost(project, host);
  const read = async (url: URL): Promise<Buffer> => {
    if (!isAllowed(url.hostname)) {
      throw new CommandError(`${url.hostname} is not on the project's allowlist.`);
    }
    const client = { project: project._id, isAllowedHost: isAllowed, signal };
    const lease = await sources.acquire(url, client);
    try {
      return Buffer.from(lease.bytes);
    } finally {
      lease.release();
    }
  };
  const images = new Set<string>();
  const skipped = new Set<string>();
  const unreadable: string[] = [];
  const exceeded = new Set<string>();
  const addImage = (text: string, base: URL) => {
    const url = toSource(text, base, settings.baseUrl);
    if (url === null) return;
    if (!isAllowed(url.hostname)) skipped.add(url.href);
    else if (images.size < limits.images) images.add(url.href);
    else exceeded.add('images');
  };
  const pages = new Set<string>();
  const sitemaps = new Set([sitemap.href]);
  const add = (found: Set<string>, what: 'sitemaps' | 'pages', href: string) => {
    if (found.size < limits[what]) found.add(href);
    else exceeded.add(what);
  };
  const visit = async (documents: Set<string>, use: (url: URL, bytes: Buffer) => void) => {
    // Documents that are added meanwhile are visited too.
    for (const href of documents) {
      const url = new URL(href);
      try {
        use(url, await read(url));
      } catch (error) {
        const isKnown = error instanceof ServiceError || error instanceof CommandError;
        const reason = isKnown ? error.message : 'It is not a valid sitemap.';
        if (href === sitemap.href) throw new CommandError(`The sitemap cannot be read. ${reason}`);
        unreadable.push(`${href}: ${reason}`);
      }
      onProgress(sitemaps.size + pages.size, images.size);
    }
  };
  try {
    await visit(sitemaps, (url, bytes) => {
      for (const { loc, isSitemap, images: listed } of parseSitemap(bytes)) {
        if (!URL.canParse(loc, url.href)) continue;
        const { href } = new URL(loc, url);
        if (isSitemap) add(sitemaps, 'sitemaps', href);
        else if (listed.length === 0) add(pages, 'pages', href);
        for (const image of listed) addImage(image, url);
      }
    });
    await visit(pages, (url, bytes) => {
      for (const image of imagesOfPage(bytes)) addImage(image, url);
    });
  } finally {
    await sources.close();
  }
  return { images: [...images], skipped: skipped.size, unreadable, exceeded: [...exceeded] };
}

/** Returns an image's source: what this service's own URL is of, or the URL itself. */
function toSource(text: string, base: URL, baseUrl: string): URL | null {
  const own = baseUrl + imagePrefix;
  const source = text.startsWith(own)
    ? percentDecode(text.slice(own.length).split('?')[0] ?? '')
    : text;
  if (source === null || !URL.canParse(source, base.href)) return null;
  const url = new URL(source, base);
  return /^https?:$/.test(url.protocol) ? url : null;
}

interface SitemapEntry {
  readonly loc: string;
  /** Whether it is another sitemap. */
  readonly isSitemap: boolean;
  readonly images: readonly string[];
}

/** @throws Error for anything but a sitemap or an index of sitemaps, optionally compressed */
function parseSitemap(bytes: Buffer): SitemapEntry[] {
  const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const xml = isCompressed ? gunzipSync(bytes, { maxOutputLength: maxSitemapBytes }) : bytes;
  const entries: SitemapEntry[] = [];
  let loc = '';
  let images: string[] = [];
  let text = '';
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', () => {
    text = '';
  });
  parser.on('text', (more) => {
    text += more;
  });
  parser.on('cdata', (more) => {
    text += more;
  });
  parser.on('closetag', ({ local, uri }) => {
    if (local === 'loc' && uri.includes('sitemap-image')) images.push(text.trim());
    else if (local === 'loc') loc = text.trim();
    if (local !== 'url' && local !== 'sitemap') return;
    entries.push({ loc, isSitemap: local === 'sitemap', images });
    loc = '';
    images = [];
  });
  parser.write(xml.toString('utf8')).close();
  return entries;
}

/** Bounded, and without `<`, so that a tag without an end costs no time. */
const imagePattern = /<(?:img|meta)\b[^<>]{0,4096}>/gi;
const srcPattern = /\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
const openGraphPattern = /\sproperty\s*=\s*["']og:image["']/i;
const contentPattern = /\scontent\s*=\s*(?:"([^"]*)"|'([^']*)')/i;

function imagesOfPage(bytes: Buffer): string[] {
  const html = bytes.toString('utf8').slice(0, maxPageCharacters);
  return [...html.matchAll(imagePattern)].flatMap(([tag]) => {
    const isImage = /^<img/i.test(tag);
    if (!isImage && !openGraphPattern.test(tag)) return [];
    const [, ...values] = (isImage ? srcPattern : contentPattern).exec(tag) ?? [];
    const value = values.find((text) => text !== undefined);
    return value === undefined ? [] : [value.trim().replaceAll('&amp;', '&')];
  });
}
