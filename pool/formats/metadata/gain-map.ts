import { filteredXmp } from './xmp.ts';

/** Namespaces that describe a gain map, or further images of the file. */
const namespaces: ReadonlySet<string> = new Set([
  'http://ns.adobe.com/hdr-gain-map/1.0/',
  'http://ns.apple.com/HDRGainMap/1.0/',
  'http://ns.google.com/photos/1.0/container/',
]);

/**
 * XMP without the description of a gain map. The output has no gain map, and viewers that look for it
 * would show the image too bright, or not at all.
 *
 * @returns the argument if it describes none; null if it describes one and cannot be read
 */
export function withoutGainMap(xmp: string): string | null {
  if (![...namespaces].some((namespace) => xmp.includes(namespace))) return xmp;
  try {
    return filteredXmp(xmp, {
      element: ({ uri }) => !namespaces.has(uri),
      // The declaration of an unused namespace would still announce a gain map.
      attribute: (uri) => !namespaces.has(uri),
    });
  } catch {
    return null;
  }
}
