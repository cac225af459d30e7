import { ServiceError } from '../../../contract/errors.ts';
import { canonicalHost } from '../../../contract/hosts.ts';
import { recogniseDialect } from '../../../urls/src/index.ts';
import { explainUrl, maxExplainedLength } from '../../image/explain-url.ts';
import { urlKinds } from '../../image/host-address.ts';
import { siteAtHost } from '../../image/site.ts';
import { queryReader } from '../input.ts';
import { itemResult, operation } from '../operation.ts';
import { named, strictObject, texts } from '../schema.ts';
import { findProject } from '../services.ts';
import { invalidRequest, rejectInvalid } from '../validation-messages.ts';

const urlMeaning = named(
  'UrlMeaning',
  {
    description: 'The meaning of an image URL.',
    ...strictObject({
      source: { type: 'string', description: 'Absolute URL of the source.' },
      native: {
        type: ['string', 'null'],
        description: "The native URL from `/img/` on; null if it depends on the source's size.",
      },
      options: {
        type: 'array',
        description: 'The image parameters of the native URL.',
        items: strictObject({
          name: { type: 'string' },
          value: { type: 'string' },
          meaning: { type: 'string' },
        }),
      },
      ignored: { ...texts, description: 'Options of the URL that have no effect.' },
    }),
  },
  {
    source: 'https://shop.example.com/a.jpg',
    native: '/img/https%3A%2F%2Fshop.example.com%2Fa.jpg?project=prj_32gx1acb9wtykf3m&w=640',
    options: [{ name: 'w', value: '640', meaning: 'Output width in CSS pixels.' }],
    ignored: [],
  },
);

const side = { type: 'integer', minimum: 1, maximum: 999_999 } as const;

/** Relative sources of other hosts' URLs are on the project's origin. */
export const urlMeaningOperations = {
  getProjectUrlMeaning: operation({
    method: 'GET',
    path: '/projects/{projectId}/url-meaning',
    summary: 'Explain an image URL',
    description:
      "Returns the native URL of an image URL, including another service's. The host's `urls` and `base` determine the meaning of a delivery host URL. Does not check signatures.",
    query: {
      url: {
        schema: { type: 'string', maxLength: maxExplainedLength },
        description: 'The image URL.',
        example: 'https://www.example.com/_next/image?url=%2Fa.jpg&w=640&q=75',
      },
      urls: {
        schema: { type: 'string', enum: urlKinds },
        description:
          "Service that the URL belongs to, if its host is not a delivery host. Default: recognised by the URL's form, or native.",
        example: 'next',
      },
      width: { schema: side, description: 'Width of the upright source.', example: 6_000 },
      height: { schema: side, description: 'Height of the upright source.', example: 4_000 },
    },
    result: itemResult('urlMeaning', urlMeaning),
    handle: async ({ path: { projectId }, query }, services) => {
      const project = await findProject(services, projectId);
      const { url, urls, size } = readMeaningQuery(query);
      const host = (URL.canParse(url) && canonicalHost(new URL(url).hostname)) || '';
      const named = { host, base: null, urls, updatedAt: new Date(0) };
      const site = siteAtHost(project, host) ?? { project, host: named };
      try {
        const explained = explainUrl(url, site, size);
        return {
          source: new URL(explained.source, project.origin).href,
          native: explained.native,
          options: [...explained.options],
          ignored: [...explained.ignored],
        };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        throw invalidRequest(`url: ${error.message}`);
      }
    },
  }),
};

function readMeaningQuery(query: string) {
  const errors: string[] = [];
  const read = queryReader(query, errors);
  const readSide = (name: string): number | null => {
    const text = read(name);
    if (text === null) return null;
    if (!/^[1-9]\d{0,5}$/.test(text)) errors.push(`${name} must be a whole number above 0`);
    return Number(text);
  };
  const url = read('url') ?? '';
  const urls = read('urls') ?? recogniseDialect(url) ?? 'native';
  if (!urlKinds.some((kind) => kind === urls)) {
    errors.push(`urls must be one of ${urlKinds.join(', ')}`);
  }
  const [width, height] = [readSide('width'), readSide('height')];
  if (url === '') errors.push('url is required');
  rejectInvalid(errors);
  return { url, urls, size: width === null || height === null ? null : { width, height } };
}
