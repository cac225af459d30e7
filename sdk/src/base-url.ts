const example = 'https://images.example.com';

/**
 * Explains in a sentence why a `baseUrl` for image URLs is invalid; returns null if it is valid.
 */
export function baseUrlError(baseUrl: unknown): string | null {
  if (baseUrl === undefined || baseUrl === null || baseUrl === '') {
    return `baseUrl is missing: pass the service's address, such as ${example}. An environment variable that is not set is undefined, and in a browser so is one without the framework's prefix.`;
  }
  if (typeof baseUrl !== 'string' || !/^https?:\/\/[^/]/i.test(baseUrl) || !URL.canParse(baseUrl)) {
    return `baseUrl must be an absolute http or https URL, such as ${example}, but is ${String(baseUrl).slice(0, 100)}.`;
  }
  if (/[?#]/.test(baseUrl)) return 'baseUrl must have no query and no fragment.';
  const [, withoutImg] = /^(.*)\/img\/*$/i.exec(baseUrl) ?? [];
  return withoutImg === undefined
    ? null
    : `baseUrl must not end with /img, which is added to it: write ${withoutImg}.`;
}

/**
 * Explains in a sentence why a `project` for image URLs is invalid; returns null if it is valid.
 */
export const projectError = (project: unknown): string | null =>
  typeof project === 'string' && project !== ''
    ? null
    : "project is missing: pass a project's id, such as prj_32gx1acb9wtykf3m.";
