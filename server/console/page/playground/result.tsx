import type { ImageFacts } from '@image-delivery/sdk';
import type { ComponentChildren } from 'preact';
import { formatBytes, formatChange, formatNumber } from '../api/format.ts';
import { cacheMeaning, type Loaded } from '../api/image.ts';
import type { ParameterTexts } from '../api/image-url.ts';
import { CopyText } from '../components/copy.tsx';
import { type Fact, FactList } from '../components/figures.tsx';
import { Snippets } from '../components/snippets.tsx';
import type { Picture } from './use-picture.ts';
import { Viewer } from './viewer.tsx';

interface ResultProps {
  readonly picture: Picture;
  readonly onChange: (options: ParameterTexts) => void;
  readonly onReload: () => void;
  /** Suggestions after a failure. */
  readonly help: ComponentChildren;
}

/** The playground's result and original, with facts and code. */
export function Result({ picture, onChange, onReload, help }: ResultProps) {
  const { result, information, url, isSigned, snippets } = picture;
  const { loaded, loading } = result;
  return (
    <section class="result" aria-label="Result" aria-busy={loading}>
      <div class="stage">
        <Viewer picture={picture} onChange={onChange} help={help} />
        <div role="status">
          <FactList facts={toFacts(loaded, information?.source ?? null)} />
        </div>
        <CopyText label="URL" text={url} />
      </div>
      <div class="more">
        <div class="row">
          <button type="button" aria-disabled={loading} onClick={() => !loading && onReload()}>
            Load again
          </button>
          <Steps steps={loaded?.steps ?? []} />
        </div>
        {isSigned && (
          <p class="quiet">
            The project accepts signed URLs only. This URL is valid for up to an hour; your backend
            signs the URLs in your pages.
          </p>
        )}
        <h2>Code</h2>
        <Snippets
          snippets={snippets}
          isLoading={loading || (loaded !== null && information === null)}
        />
        {information !== null && <Information information={information} />}
      </div>
    </section>
  );
}

/**
 * Returns facts about a result. The set of facts is constant, so that the layout does not move.
 * @param source null if unknown
 */
function toFacts(loaded: Loaded | null, source: ImageFacts['source'] | null): readonly Fact[] {
  if (loaded === null) {
    return ['Format', 'Size', 'Pixels', 'Time', 'Cache'].map((name) => [name, '–', '']);
  }
  const { type, bytes, width, height, ms, cache } = loaded;
  const from = (text: (original: ImageFacts['source']) => string) =>
    source === null ? '' : text(source);
  const change = from((original) => formatChange(original.bytes, bytes));
  const sides = from((original) => `from ${original.width} × ${original.height}`);
  return [
    ['Format', type.replace(/^image\//, ''), from(({ format }) => `from ${format}`)],
    [
      'Size',
      formatBytes(bytes),
      from((original) => `${change} from ${formatBytes(original.bytes)}`),
    ],
    ['Pixels', width === 0 ? '–' : `${width} × ${height}`, width === 0 ? '' : sides],
    ['Time', `${formatNumber(Math.round(ms))} ms`, 'in this browser'],
    ['Cache', cache, cacheMeaning[cache] ?? ''],
  ];
}

/**
 * The render's steps, each with a bar of its share. The list keeps its height when empty, so that
 * the layout does not move.
 */
function Steps({ steps }: Pick<Loaded, 'steps'>) {
  const total = steps.reduce((sum, { ms }) => sum + ms, 0) || 1;
  return (
    <ul class="steps">
      {steps.map(({ name, ms }, index) => (
        // Keyed by position, so that steps replace each other.
        <li key={index} class={name} style={{ '--share': `${(100 * ms) / total}%` }}>
          {`${name} ${formatNumber(ms)} ms`}
        </li>
      ))}
    </ul>
  );
}

/** The service's facts about an image: its colours and its source. */
function Information({ information }: { readonly information: ImageFacts }) {
  return (
    <>
      <h2>Information</h2>
      <ul class="palette" aria-label="Palette">
        {information.palette.map(({ color, share }) => (
          <li key={color}>
            <span aria-hidden="true" style={{ background: color }} />
            {color} {Math.round(100 * share)}%
          </li>
        ))}
      </ul>
      <FactList facts={describeSource(information)} />
    </>
  );
}

function describeSource({ source, focus, perceptualHash, exif }: ImageFacts): readonly Fact[] {
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
