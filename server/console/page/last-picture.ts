import type { PageImage } from './image-url.ts';

type LastPicture = Pick<PageImage, 'source' | 'options'>;

/** In the session storage, as the API key: URLs of images may have secrets. */
const keyOf = (project: string): string => `image-delivery-picture-${project}`;

const nothing: LastPicture = { source: '', options: { w: '800' } };

/** Returns the image of a project that this tab showed last, with its parameters; '' for none. */
export function lastPicture(project: string): LastPicture {
  const text = sessionStorage.getItem(keyOf(project));
  return text === null ? nothing : (JSON.parse(text) as LastPicture);
}

export const keepPicture = ({ project, source, options }: PageImage): void =>
  sessionStorage.setItem(keyOf(project), JSON.stringify({ source, options }));
