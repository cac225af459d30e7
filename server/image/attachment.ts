import { sourceExtensions } from '../../pool/formats/source-formats.ts';
import { encodings } from '../../pool/rendering/encode/encodings.ts';
import { percentEncode } from './source-url.ts';

/** File extensions by media type. A name that lacks an extension gets the first. */
const extensions: Readonly<Record<string, readonly [string, ...string[]]>> = {
  ...Object.fromEntries(
    Object.values(encodings).map(({ contentType, extensions }) => [contentType, extensions]),
  ),
  'text/plain': ['txt'],
  'application/json': ['json'],
};
const imageExtensions = new Set([...Object.values(extensions).flat(), ...sourceExtensions]);

/** Adds the extension of the delivered type, replacing another image type's extension. */
function withExtension(name: string, contentType: string): string {
  const own = extensions[contentType.split(';')[0] ?? ''];
  if (own === undefined) return name;
  const [, stem = name, extension = ''] = /^(.+)\.([^.]+)$/.exec(name) ?? [];
  const written = extension.toLowerCase();
  if (own.includes(written)) return name;
  return `${imageExtensions.has(written) ? stem : name}.${own[0]}`;
}

/**
 * The Content-Disposition header (RFC 6266) of a download: the name in ASCII for old clients, and in full
 * (RFC 8187).
 *
 * @param name as `fileName` in download.ts reads it
 */
export function attachment(name: string, contentType: string): string {
  const full = withExtension(name, contentType);
  const ascii = full
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    // Some clients decode percent signs.
    .replace(/[^ -~]|[%"\\]/gu, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${percentEncode(full)}`;
}
