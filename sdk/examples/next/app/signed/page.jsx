import { createImageUrls } from '@image-delivery/sdk';
import { createSigner } from '@image-delivery/sdk/sign';

const { IMAGES_SECRET, IMAGES_MAX_WIDTH = '0' } = process.env;

const settings = { baseUrl: process.env.IMAGES_URL, project: process.env.IMAGES_PROJECT };
const urls = createImageUrls({
  ...settings,
  origin: process.env.IMAGES_ORIGIN,
  maxWidth: Number(IMAGES_MAX_WIDTH),
  sign: IMAGES_SECRET && createSigner({ ...settings, secret: IMAGES_SECRET, validFor: 3600 }),
});

/** Signed URLs expire: they are written for each request. */
export const dynamic = 'force-dynamic';

export default function Signed() {
  const sides = { sourceWidth: 2725, sourceHeight: 2225 };
  const { sources, img } = urls.picture('/landscape.jpg', { ...sides, sizes: '50vw' });
  const { srcset, ...attributes } = img;
  return (
    <picture>
      {sources.map(({ type, srcset, sizes }) => (
        <source key={type} type={type} srcSet={srcset} sizes={sizes} />
      ))}
      <img
        {...attributes}
        srcSet={srcset}
        alt="A hero, of signed URLs"
        style={{ maxWidth: '50%', height: 'auto' }}
      />
    </picture>
  );
}
