import type { PageImage } from './image-url.ts';

/** What the service tells the page; see `indexPage`. */
const { command = '', project = '', pictures = '' } = document.getElementById('app')?.dataset ?? {};

/** A command of the package or, in a clone, its script. */
export const launchCommand = (ofPackage: string, ofClone: string): string =>
  command === '' ? ofClone : `${command} ${ofPackage}`;

/**
 * The playground's first project and images (`SERVICE_CONSOLE_PICTURES`); '' and an empty list by
 * default.
 */
export const initial = { project, pictures: pictures.split(' ').filter((url) => url !== '') };

type LastPicture = Pick<PageImage, 'source' | 'options'>;

/** Kept in session storage, like the API key, because image URLs can contain secrets. */
const toKey = (project: string): string => `image-delivery-picture-${project}`;
const projectKey = 'image-delivery-project';

const nothing: LastPicture = { source: '', options: { w: '800' } };

/** Returns the project image that this tab requested last, with its parameters, or ''. */
export function lastPicture(project: string): LastPicture {
  const text = sessionStorage.getItem(toKey(project));
  return text === null ? nothing : (JSON.parse(text) as LastPicture);
}

export const keepPicture = ({ project, source, options }: PageImage): void =>
  sessionStorage.setItem(toKey(project), JSON.stringify({ source, options }));

/** Returns this tab's last project id, or ''. */
export const lastProject = (): string => sessionStorage.getItem(projectKey) ?? '';

export const keepProject = (project: string): void => sessionStorage.setItem(projectKey, project);

/** Removes a deleted project's entries. */
export function forgetProject(project: string): void {
  sessionStorage.removeItem(toKey(project));
  if (lastProject() === project) sessionStorage.removeItem(projectKey);
}
