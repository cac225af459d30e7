import { imageInputs } from '../../pool/inputs.ts';
import type { ImageRequest } from '../../pool/miss.ts';
import { noObserver } from '../../pool/stages.ts';
import { noPurge } from './cache/pictures.ts';
import { variant } from './rendering/pictures.ts';

/** A live request, for an image of a source that does not exist. */
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
  loaderOf: () => null,
  admitRender: async () => () => {},
  ...changes,
});
