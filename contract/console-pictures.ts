/** The project ('' for no project) and image URLs that the playground opens. */
export interface ConsolePictures {
  readonly project: string;
  readonly urls: readonly string[];
}

/** Maximum length; the page contains the whole value. Linux limits an environment variable to 128 KiB. */
export const maxPicturesText = 65_536;

/** Returns undefined for an unparsable text. */
export function parsePictures(list: string): ConsolePictures | undefined {
  if (list.length > maxPicturesText || !/^[\w-]+( +https?:\/\/[^ ]+)*$/u.test(list))
    return undefined;
  const [project = '', ...urls] = list.split(/ +/);
  return { project, urls };
}
