import { asBuffer } from '../bytes.ts';

/** Strings near the start of a JPEG with a gain map (Adobe's specification 1.0, ISO 21496-1). */
const markers = ['http://ns.adobe.com/hdr-gain-map/1.0/', 'urn:iso:std:iso:ts:21496:-1'] as const;
const headBytes = 2 ** 20;

/** Returns whether a JPEG could contain a gain map; only its decoder can verify it. */
export function mayHaveGainMap(source: Uint8Array): boolean {
  const head = asBuffer(source).subarray(0, headBytes);
  return markers.some((marker) => head.includes(marker));
}
