import type { Size } from '../../../pool/geometry.ts';
import { type IiifLimits, type IiifVersion, iiifFormats } from './iiif-request.ts';

const protocol = 'http://iiif.io/api/image';
const tileSide = 512;
const qualities = ['color', 'gray', 'bitonal'];
/** More than level 2 requires. */
const features = [
  'canonicalLinkHeader',
  'mirroring',
  'profileLinkHeader',
  'rotationArbitrary',
] as const;

export const iiifProfile = (version: IiifVersion): string => `${protocol}/${version}/level2.json`;
export const iiifContext = (version: IiifVersion): string => `${protocol}/${version}/context.json`;

/** Powers of two to divide the image by, until it fits one tile. */
function scaleFactors({ width, height }: Size): number[] {
  const factors = [1];
  for (let factor = 1; Math.max(width, height) / factor > tileSide; ) {
    factor *= 2;
    factors.push(factor);
  }
  return factors;
}

/**
 * The image information of a source.
 * @param id the image URL up to the identifier
 */
export function iiifInfo(version: IiifVersion, id: string, full: Size, limits: IiifLimits): object {
  const { width, height } = full;
  const factors = scaleFactors(full);
  const sizes = factors
    .map((factor) => ({ width: Math.ceil(width / factor), height: Math.ceil(height / factor) }))
    .filter((size) => Math.max(size.width, size.height) <= limits.side)
    .filter((size) => size.width * size.height <= limits.area)
    .reverse();
  const tiles = [{ width: tileSide, scaleFactors: factors }];
  const most = { maxWidth: limits.side, maxArea: limits.area };
  const context = { '@context': iiifContext(version) };
  if (version === 2) {
    const profile = {
      formats: Object.keys(iiifFormats),
      qualities: ['default', ...qualities],
      ...most,
      supports: [...features, 'regionSquare', 'sizeAboveFull'],
    };
    return {
      ...context,
      '@id': id,
      '@type': 'iiif:Image',
      protocol,
      width,
      height,
      sizes,
      tiles,
      profile: [iiifProfile(2), profile],
    };
  }
  return {
    ...context,
    id,
    type: 'ImageService3',
    protocol,
    profile: 'level2',
    width,
    height,
    ...most,
    sizes,
    tiles,
    extraFormats: Object.keys(iiifFormats).filter((format) => !['jpg', 'png'].includes(format)),
    extraQualities: qualities,
    extraFeatures: [...features, 'sizeUpscaling'],
  };
}
