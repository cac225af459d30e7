import { cloudflare } from './cloudflare.ts';
import { cloudinary } from './cloudinary.ts';
import type { UrlGrammar } from './grammar.ts';
import { iiif } from './iiif.ts';
import { imgix } from './imgix.ts';
import { imgproxy } from './imgproxy.ts';
import { next } from './next.ts';
import { thumbor } from './thumbor.ts';

/** The URLs of other services that a delivery host can read, by the value of its `urls`. */
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

/** The values of `urls`; `native` are those of this service. */
export const urlKinds = ['native', ...(Object.keys(urlGrammars) as ForeignUrls[])] as const;
