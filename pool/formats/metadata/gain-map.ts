import { filteredXmp } from './xmp.ts';

/**
 * The namespaces that describe a gain map, and the other images in the same file: Adobe's, which
 * Ultra HDR uses, Apple's, and Google's directory.
 */
const namespaces: ReadonlySet<string> = new Set([
  'http://ns.adobe.com/hdr-gain-map/1.0/',
  'http://ns.apple.com/HDRGainMap/1.0/',
  'http://ns.google.com/photos/1.0/container/',
]);

/**
 * XMP without what it says about a gain map. The output has none, and viewers that look for it would
 * show the image too bright, or not at all.
 *
 * @returns the argument when it says nothing about one; null when it does and cannot be read
 */
export function withoutGainMap(xmp: string): string | null {
  if (![...namespaces].some((namespace) => xmp.includes(namespace))) return xmp;
  try {
    return filteredXmp(xmp, {
      element: ({ uri }) => !namespaces.has(uri),
      // A declaration of a namespace that nothing uses any more would still say that there is a map.
      attribute: (uri) => !namespaces.has(uri),
    });
  } catch {
    return null;
  }
}
