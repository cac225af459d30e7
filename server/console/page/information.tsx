import type { ImageFacts } from '@image-delivery/sdk';
import { type Fact, FactList } from './facts.tsx';

/** The service's facts about an image: its colours and its source. */
export function Information({ information }: { readonly information: ImageFacts }) {
  return (
    <>
      <h2>Information</h2>
      <ul class="palette" aria-label="Palette">
        {information.palette.map(({ color, share }) => (
          <li key={color}>
            <span aria-hidden="true" style={{ background: color }} />
            {color} {Math.round(100 * share)} %
          </li>
        ))}
      </ul>
      <FactList facts={toFacts(information)} />
    </>
  );
}

function toFacts({ source, focus, perceptualHash, exif }: ImageFacts): readonly Fact[] {
  return [
    ['Source', source.format, `${source.width} × ${source.height}`],
    ['Frames', String(source.frames), source.frames === 1 ? 'a still image' : 'an animation'],
    ['Transparency', source.hasAlpha ? 'yes' : 'no', ''],
    ['Orientation', String(source.orientation), source.orientation === 1 ? 'upright' : 'turned'],
    ['Profile', source.profile ?? 'none', ''],
    ['Focus', `${focus.x}, ${focus.y}`, 'for fp'],
    ['Perceptual hash', perceptualHash, ''],
    ...Object.entries(exif).map(([name, value]): Fact => [name, String(value), 'EXIF']),
  ];
}
