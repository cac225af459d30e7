import t from 'tap';
import type { SourceFacts } from '../../../pool/formats/source-format.ts';
import type { OutputFormat } from '../../../pool/rendering/encode/encodings.ts';
import { makePlan } from '../../../pool/rendering/plan.ts';
import { formatNamed } from '../formats/named.ts';
import { sourceFacts, variant } from './pictures.ts';

const still: SourceFacts = sourceFacts(100, 100, { format: formatNamed('png'), hasAlpha: true });
const moving: SourceFacts = { ...still, format: formatNamed('gif'), frames: 5 };

function chosen(source: SourceFacts, formats: readonly OutputFormat[], negotiated: boolean) {
  const options = variant({ formats, negotiated });
  const { format, animated } = makePlan(source, null, options, 1e8);
  return animated ? `${format}, animated` : format;
}

t.test('uses the first format', async (t) => {
  t.equal(chosen(still, ['avif', 'webp'], true), 'avif');
  t.equal(chosen(still, ['gif'], false), 'gif');
  t.equal(
    chosen({ ...still, format: formatNamed('gif') }, ['jpeg'], true),
    'jpeg',
    'a GIF with one frame',
  );
});

t.test('keeps the animation in a negotiated format', async (t) => {
  t.equal(chosen(moving, ['avif', 'webp'], true), 'webp, animated');
  t.equal(chosen(moving, ['avif', 'jpeg', 'png'], true), 'gif, animated', 'the own format');
  t.equal(chosen({ ...moving, format: formatNamed('webp') }, ['avif'], true), 'gif, animated');
});

t.test('sends AVIF and WebP only to clients that name them', async (t) => {
  const avif: SourceFacts = { ...still, format: formatNamed('avif') };
  t.equal(chosen(avif, ['avif'], true), 'avif');
  t.equal(chosen(avif, ['webp'], true), 'webp');
  t.equal(chosen(avif, [], true), 'png');
  t.equal(chosen({ ...avif, hasAlpha: false }, [], true), 'jpeg');
  const webp: SourceFacts = { ...still, format: formatNamed('webp') };
  t.equal(chosen(webp, ['webp'], true), 'webp');
  t.equal(chosen(webp, ['avif'], true), 'avif');
  t.equal(chosen(webp, [], true), 'png');
  t.equal(chosen({ ...webp, hasAlpha: false }, [], true), 'jpeg');
  t.equal(chosen({ ...moving, format: formatNamed('webp') }, [], true), 'gif, animated');
});

t.test('uses a requested format', async (t) => {
  t.equal(chosen(moving, ['avif'], false), 'avif');
  t.equal(chosen(moving, ['webp'], false), 'webp, animated');
});

t.test('uses only the first frame of an animation with an orientation', async (t) => {
  const turned = { ...moving, format: formatNamed('webp'), orientation: 6 };
  t.equal(chosen(turned, ['webp'], true), 'webp');
});

t.test('does not treat document pages as frames', async (t) => {
  t.equal(chosen({ ...still, format: formatNamed('tiff'), frames: 5 }, ['webp'], true), 'webp');
});

t.test("defaults to the source's format", async (t) => {
  for (const kind of ['jpeg', 'png', 'webp', 'gif', 'avif'] as const) {
    t.equal(chosen({ ...still, format: formatNamed(kind) }, [], false), kind);
  }
  for (const kind of ['heif', 'tiff', 'svg'] as const) {
    t.equal(
      chosen({ ...still, format: formatNamed(kind) }, [], false),
      'png',
      `${kind} with transparency`,
    );
    t.equal(
      chosen({ ...still, format: formatNamed(kind), hasAlpha: false }, [], false),
      'jpeg',
      `${kind} without`,
    );
  }
});
