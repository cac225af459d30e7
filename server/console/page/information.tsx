import { type Fact, FactList } from './facts.tsx';

/** The source in the response to `fmt=json`. */
export interface SourceProperties {
  readonly format: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly pages: number;
  /** Frames of an animation; 1 if it is none. */
  readonly frames: number;
  readonly hasAlpha: boolean;
  /** EXIF orientation, 1..8. */
  readonly orientation: number;
  /** Name of the colour profile; null for none. */
  readonly profile: string | null;
}

/** The response to `fmt=json`. */
export interface ImageInformation {
  readonly source: SourceProperties;
  /** What is left of the source with the parameters of the request. */
  readonly output: { readonly width: number; readonly height: number };
  readonly palette: readonly { readonly color: string; readonly share: number }[];
  readonly focus: { readonly x: number; readonly y: number };
  readonly perceptualHash: string;
  readonly exif: Readonly<Record<string, string | number>>;
}

/** What the service knows about a picture: its colours, and facts about the source. */
export function Information({ information }: { readonly information: ImageInformation }) {
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
      <FactList facts={factsOf(information)} />
    </>
  );
}

function factsOf({ source, focus, perceptualHash, exif }: ImageInformation): readonly Fact[] {
  return [
    ['Source', source.format, `${source.width} × ${source.height}`],
    ['Frames', String(source.frames), source.frames === 1 ? 'a still picture' : 'an animation'],
    ['Transparency', source.hasAlpha ? 'yes' : 'no', ''],
    ['Orientation', String(source.orientation), source.orientation === 1 ? 'upright' : 'turned'],
    ['Profile', source.profile ?? 'none', ''],
    ['Focus', `${focus.x}, ${focus.y}`, 'for fp'],
    ['Perceptual hash', perceptualHash, ''],
    ...Object.entries(exif).map(([name, value]): Fact => [name, String(value), 'EXIF']),
  ];
}
