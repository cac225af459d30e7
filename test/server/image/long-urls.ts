import type { DialectName } from '../../../urls/src/index.ts';
import { urlExamples } from '../../url-examples.ts';

/** Texts that options, chains, paths, encodings and base64 are made of. */
export const urlUnits: readonly string[] = `
, : ; = & ? / . ( ) - _ + @ ~ ^ ! | a 0 9 \\ ../ ./ // % %2F %252F %00 %C3 %F0%9F https:// plain/
w_1/ w_1, c_crop,w_9,h_9/ t_card/ w:1/ pr:card/ a(): blur(1): fit-in/ filters: w=1, w=1& w64=QUFB& rect= trim=
focal(1x1:2x2): YS5qcGc/ QUFB`
  .trim()
  .split(/\s+/);

const length = 8_000;

/** Examples of a service with 8 KB of one text, at each of their boundaries. */
export function* longUrls(kind: DialectName): Generator<string> {
  const examples = urlExamples[kind];
  for (const unit of urlUnits) {
    const long = unit.repeat(Math.ceil(length / unit.length));
    for (const { url } of [examples[0], examples.at(-1)].filter(
      (example) => example !== undefined,
    )) {
      const boundaries = [...url.matchAll(/(?<=[/,:=&?.(])/g)].map(({ index }) => index);
      for (const at of [...boundaries, url.length]) yield url.slice(0, at) + long + url.slice(at);
    }
  }
}
