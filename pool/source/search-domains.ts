import { readFile } from 'node:fs/promises';

const path = '/etc/resolv.conf';
/** The limits of glibc. */
const max = { domains: 6, dots: 15 };

export interface SearchDomains {
  readonly domains: readonly string[];
  /** A name with at least this many dots is first resolved as it is. */
  readonly dots: number;
}

/** The search domains of resolv.conf(5). The last of several lines applies. */
export async function searchDomains(file = path): Promise<SearchDomains> {
  const text = await readFile(file, 'utf8').catch(() => '');
  let domains: readonly string[] = [];
  let dots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.trim().split(/\s+/);
    if (keyword === 'search' || keyword === 'domain') domains = words.slice(0, max.domains);
    if (keyword !== 'options') continue;
    for (const word of words) {
      const [, count] = /^ndots:(\d{1,3})$/.exec(word) ?? [];
      if (count !== undefined) dots = Math.min(Number(count), max.dots);
    }
  }
  return {
    domains: domains.map((name) => name.replace(/\.$/, '')).filter((name) => name !== ''),
    dots,
  };
}
