import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type JpegOptions, type Sharp } from 'sharp';
import { matrixProfile } from '../../pool/formats/metadata/written-profile.ts';
import { jpeg422, withExif } from './jpeg.ts';
import { picture } from './pictures.ts';

/** Of most photographs; multiples of 16, as {@link jpeg422} needs. */
const size = { width: 2720, height: 2224 } as const;
const quality = 90;

/** One kind of photograph. */
export interface Photograph {
  readonly name: string;
  /** Width of the images rendered from it; 800 px by default. */
  readonly width?: number;
  /** Of these images; JPEG by default. */
  readonly format?: 'webp';
  make(): Promise<Buffer>;
}

/** Adobe RGB (1998) with a gamma of 563/256. */
const adobeRgb = matrixProfile(
  {
    name: 'Compatible with Adobe RGB (1998)',
    colours: [
      [0.60974, 0.31111, 0.01947],
      [0.20528, 0.62567, 0.06087],
      [0.14919, 0.06322, 0.74457],
    ],
  },
  [563 / 256],
);

/**
 * Creates photographs like those from cameras and phones, all from a single sample. Omits HEIC,
 * because sharp neither reads nor writes it.
 * @param folder for a profile, which sharp reads from a file
 */
export async function photographs(folder: string): Promise<Photograph[]> {
  const landscape = await picture('landscape.jpg');
  const adobeRgbFile = join(folder, 'adobe-rgb.icc');
  await writeFile(adobeRgbFile, adobeRgb);
  const whole = () => sharp(landscape).extract({ left: 0, top: 0, ...size });
  const jpeg = (image: Sharp, options: JpegOptions = {}) =>
    image.jpeg({ quality, ...options }).toBuffer();
  const tagged = (profile: string) => () => jpeg(whole().withIccProfile(profile));
  /** Larger than the sample: repeated in mirrors, which keeps its detail per pixel. */
  const megapixels = (millions: number, width: number, height: number): Photograph => ({
    name: `${millions} megapixels`,
    make: () => {
      const [right, bottom] = [width - size.width, height - size.height];
      return jpeg(
        right < 0
          ? whole().resize(width, height)
          : whole().extend({ right, bottom, extendWith: 'mirror' }),
      );
    },
  });
  const scale = (by: number): Photograph => ({
    name: `scale ${by.toFixed(1)}`,
    width: Math.round(size.width / by),
    make: () => jpeg(whole()),
  });
  return [
    { name: 'no profile, 4:2:0, scale 3.4', make: () => jpeg(whole()) },
    { name: 'sRGB', make: tagged('srgb') },
    { name: 'Display P3', make: tagged('p3') },
    { name: 'Adobe RGB', make: tagged(adobeRgbFile) },
    {
      name: '4:2:2',
      make: async () => jpeg422({ ...size, data: await whole().raw().toBuffer() }, quality),
    },
    { name: '4:4:4', make: () => jpeg(whole(), { chromaSubsampling: '4:4:4' }) },
    { name: 'progressive', make: () => jpeg(whole(), { progressive: true }) },
    {
      name: 'turned by EXIF',
      make: async () => {
        const onItsSide = sharp(await whole().raw().toBuffer(), { raw: { ...size, channels: 3 } });
        return withExif(await jpeg(onItsSide.rotate(270)), { orientation: 6 });
      },
    },
    {
      name: 'thumbnail, 64 KB of metadata',
      make: async () =>
        withExif(await jpeg(whole()), {
          thumbnail: await jpeg(whole().resize(160)),
          noteBytes: 55_000,
        }),
    },
    megapixels(2, 1632, 1224),
    megapixels(12, 4000, 3000),
    megapixels(48, 8000, 6000),
    scale(1.3),
    scale(2),
    scale(2.5),
    scale(5),
    scale(10),
    {
      name: 'PNG with alpha, as WebP',
      width: 600,
      format: 'webp',
      make: () => picture('lantern.png'),
    },
    { name: 'WebP', make: () => whole().webp({ quality }).toBuffer() },
    {
      name: 'AVIF',
      make: () => whole().avif({ quality: 65, effort: 1, chromaSubsampling: '4:2:0' }).toBuffer(),
    },
  ];
}
