import { cloudflareSamples } from './cloudflare.ts';
import { cloudinarySamples } from './cloudinary.ts';
import { imgixSamples } from './imgix.ts';
import { imgproxySamples } from './imgproxy.ts';
import type { Sample } from './sample.ts';
import { thumborSamples } from './thumbor.ts';

/** Samples of URLs by service, of pictures below a base without a trailing slash. */
export const samples: Readonly<Record<string, (base: string) => readonly Sample[]>> = {
  imgix: imgixSamples,
  cloudinary: cloudinarySamples,
  imgproxy: imgproxySamples,
  thumbor: thumborSamples,
  cloudflare: cloudflareSamples,
};

/** The most URLs of 400 that a service's language may refuse: 3%. */
export const maxRefused: Readonly<Record<string, number>> = {
  imgix: 12,
  cloudinary: 12,
  imgproxy: 12,
  thumbor: 12,
  cloudflare: 12,
};
