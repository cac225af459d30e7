import sharp from 'sharp';
import type { PageImage } from '../../server/console/page/api/image-url.ts';
import { pickEffects, readOpenApi } from '../../server/console/page/api/openapi.ts';
import type { PictureFacts } from '../../server/console/page/playground/picture-code.ts';
import { factsOptions } from '../../server/console/page/playground/snippets.ts';

interface Answer {
  readonly source: PictureFacts['source'];
  readonly output: PictureFacts['result'];
}

/** Returns the playground's state of an image after loading the image and its source facts. */
export async function snippetFacts(
  serviceUrl: string,
  { source, project, options }: PageImage,
  page: Pick<PictureFacts, 'site' | 'dpr'>,
): Promise<PictureFacts> {
  const load = async (wanted: PageImage['options']) => {
    const query = new URLSearchParams({ project });
    for (const [name, value] of Object.entries(wanted)) if (value !== '') query.set(name, value);
    const url = `${serviceUrl}/img/${encodeURIComponent(source)}?${query}`;
    const response = await fetch(url, { headers: { accept: 'image/*' } });
    if (!response.ok) throw new Error(`${response.status} ${url}: ${await response.text()}`);
    return response;
  };
  const result = await sharp(await (await load(options)).arrayBuffer()).metadata();
  const description = readOpenApi(await (await fetch(`${serviceUrl}/openapi.json`)).json());
  const wanted = factsOptions(options, description);
  const { source: file, output } = (await (await load(wanted)).json()) as Answer;
  const { width, height } = output;
  const hasBorder = Object.keys(pickEffects(options, description, 'border')).length > 0;
  return { ...page, hasBorder, result, source: { ...file, width, height } };
}
