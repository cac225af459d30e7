import { imageInputs } from '../../pool/inputs.ts';
import type { ImageRequest } from '../../pool/miss.ts';
import { noObserver } from '../../pool/stages.ts';
import { noPurge } from './cache/pictures.ts';
import { variant } from './rendering/pictures.ts';

/** Returns a live request for an image of a missing source. */
export const imageRequest = (changes: Partial<ImageRequest> = {}): ImageRequest => ({
  key: '0'.repeat(64),
  project: 'prj_1',
  inputs: imageInputs(new URL('https://a.example/a.jpg'), null, variant(), () => true),
  variant: variant(),
  generation: noPurge,
  freshness: null,
  background: false,
  provisional: null,
  stages: noObserver,
  findLoader: () => null,
  admitRender: async () => () => {},
  ...changes,
});
