import { cloudflare } from './cloudflare.ts';
import { cloudinary } from './cloudinary.ts';
import type { UrlGrammar } from './grammar.ts';
import { iiif } from './iiif.ts';
import { imgix } from './imgix.ts';
import { imgproxy } from './imgproxy.ts';
import { next } from './next.ts';
import { thumbor } from './thumbor.ts';

/** The URL grammars that a delivery host supports, by the value of its `urls`. */
export const urlGrammars = {
  cloudflare,
  cloudinary,
  iiif,
  imgix,
  imgproxy,
  next,
  thumbor,
} as const satisfies Readonly<Record<string, UrlGrammar>>;

export type ForeignUrls = keyof typeof urlGrammars;

/** The values of `urls`, where `native` stands for this service's own URLs. */
export const urlKinds = ['native', ...(Object.keys(urlGrammars) as ForeignUrls[])] as const;
