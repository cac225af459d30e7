import { ServiceError } from '../../contract/errors.ts';
import { makePlan } from '../../pool/rendering/plan.ts';
import { croppedArea } from '../../pool/rendering/used-area.ts';
import { readRequestAddress } from '../../server/image/host-address.ts';
import { negotiation } from '../../server/image/negotiate.ts';
import { readTransform, resolveTransform } from '../../server/image/resolve-variant.ts';
import { sourceFacts } from '../pool/rendering/pictures.ts';
import { project } from '../project.ts';
import { pictures, type Sample, type Size } from './sample.ts';

/** Where the tests have the pictures. */
export const sampleBase = 'https://shop.example';

const presets = { card: { w: 200, h: 150 } };
const layer = { image: { url: `${sampleBase}/logo.png` } };

/** The content of `frame.png`. */
const content = { left: 80, top: 40, ...pictures['photo.jpg'] };

const headers = negotiation()((name) => (name === 'accept' ? 'image/avif,image/webp' : ''));

/** Returns the size that the service plans for a URL, or the reason why it refuses it. */
export function planSample({ kind, url, picture }: Sample): Size | string {
  const owner = project({
    origin: `${sampleBase}/`,
    allowedOrigins: ['shop.example'],
    presets,
    layers: { watermark: layer, logo: layer, 'brand-logo': layer },
  });
  const host = { host: 'img.shop.example', base: null, urls: kind, updatedAt: new Date(0) };
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  try {
    const address = readRequestAddress(path, query, { project: owner, host });
    const size = pictures[picture];
    const sized =
      address.kind === 'needsSize' ? address.resolve(size, { origin: '', accept: '' }) : address;
    if (sized.kind !== 'image') return sized.kind;
    const transform = readTransform(sized.kind === 'image' ? sized.parameters : address.parameters);
    const { variant } = resolveTransform(transform, owner, address.usesHints, headers, true);
    const facts = sourceFacts(size.width, size.height);
    const isTrimmed = variant.trim !== null && picture === 'frame.png';
    const area = isTrimmed ? content : croppedArea(facts, variant);
    const { width, height } = makePlan(facts, area, variant, 1e9);
    return { width, height };
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
}
