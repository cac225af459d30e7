import type { ImageFacts } from '@image-delivery/sdk';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { formatBytes, formatChange, formatNumber } from '../api/format.ts';
import { cacheMeaning, type Loaded, useImage, warningMeaning } from '../api/image.ts';
import type { ParameterTexts } from '../api/image-url.ts';
import { type ApiDescription, pickEffects } from '../api/openapi.ts';
import { useApp } from '../app.ts';
import { FailureNotice, Loading } from '../components/notice.tsx';
import { Choices } from '../components/snippets.tsx';
import { isBeyondSource } from './area.ts';
import { CropEditor, FocusEditor } from './editors.tsx';
import { chooseFormats } from './picture-code.ts';
import { type Picture, plainAccept } from './use-picture.ts';

const views = ['Compare', 'Crop', 'Focus', 'Formats'] as const;
type View = (typeof views)[number];

/** The parameter edited by each view. */
const editedBy: Partial<Record<View, 'crop' | 'fp'>> = { Crop: 'crop', Focus: 'fp' };

/** Returns the options of a view's background image, or null for Formats. */
function chooseBackground(
  view: View,
  options: ParameterTexts,
  description: ApiDescription,
): ParameterTexts | null {
  const read = pickEffects(options, description, 'source', 'page');
  // At the highest quality, without modern formats, the output is (nearly) the source.
  if (view === 'Compare') return { ...read, q: '100' };
  const still = { ...read, animated: '0', w: '1200', dpr: '1' };
  if (view === 'Crop') return still;
  // The focal point is chosen after these.
  const shape = pickEffects(options, description, 'area', 'trim', 'turn', 'background');
  return view === 'Focus' ? { ...still, ...shape } : null;
}

interface ViewerProps {
  readonly picture: Picture;
  readonly onChange: (options: ParameterTexts) => void;
  /** Suggestions after a failure. */
  readonly help: ComponentChildren;
}

/** Shows the image in a box with a constant height, and lets users choose its area and format. */
export function Viewer({ picture, onChange, help }: ViewerProps) {
  const [view, setView] = useState<View>('Compare');
  const { options, result } = picture;
  const hint = findHint(view, options);
  const edited = editedBy[view];
  return (
    <div class="viewer">
      <Choices legend="View" name="view" options={views} value={view} onChange={setView} />
      <div class={`box ${view.toLowerCase()}-view`}>
        {result.failure === null ? (
          <Content key={view} view={view} picture={picture} onChange={onChange} />
        ) : (
          <div>
            <FailureNotice failure={result.failure} />
            {help}
          </div>
        )}
      </div>
      <Notices picture={picture} />
      {hint !== null && (
        <p class="hint">
          <span class="quiet">{hint}</span>
          {edited !== undefined && (
            <button
              type="button"
              class="small"
              aria-disabled={(options[edited] ?? '') === ''}
              onClick={() => onChange({ ...options, [edited]: '' })}
            >
              Remove {edited}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

interface ContentProps extends Omit<ViewerProps, 'help'> {
  readonly view: View;
}

function Content({ view, picture, onChange }: ContentProps) {
  const { options, path, sign, information } = picture;
  const ground = chooseBackground(view, options, useApp().description);
  const { loaded: shown, failure } = useImage(ground && path(ground), plainAccept, sign);
  const { loaded } = picture.result;
  const source = information?.source ?? null;
  if (loaded === null) return <Loading />;
  if (loaded.text !== null && view !== 'Formats') {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable text is scrolled with the keyboard.
      <section class="text-result" aria-label="Text" tabIndex={0}>
        <pre>{loaded.text}</pre>
      </section>
    );
  }
  if (view === 'Compare') {
    return (
      <>
        <div class="over">
          <FailureNotice failure={failure} />
        </div>
        <Compare before={shown?.url ?? null} after={loaded} />
      </>
    );
  }
  const missing = failure ?? picture.factsFailure;
  if (missing !== null) return <FailureNotice failure={missing} />;
  if (source === null) return <Loading />;
  const set = (name: string) => (value: string) => onChange({ ...options, [name]: value });
  if (view === 'Formats') return <Formats {...{ picture, source }} onChoose={set('fmt')} />;
  if (shown === null) return <Loading />;
  if (shown.width === 0) return <p class="quiet">This browser can't show the source.</p>;
  const { crop = '', fp = '' } = options;
  return (
    <>
      {view === 'Crop' ? (
        <CropEditor picture={shown} source={source} value={crop} onChange={set('crop')} />
      ) : (
        <FocusEditor picture={shown} value={fp} onChange={set('fp')} />
      )}
      {loaded.url !== null && <img class="outcome" src={loaded.url} alt="The result" />}
    </>
  );
}

function findHint(view: View, options: ParameterTexts): string | null {
  const keys = 'or use the arrow keys, with Shift for larger steps.';
  if (view === 'Crop') return `Draw an area, drag it or a corner, ${keys}`;
  if (view === 'Formats') return 'Bytes compared with the source. A cached image takes less time.';
  if (view !== 'Focus') return null;
  const given = ['w', 'h', 'ar'].filter((name) => (options[name] ?? '') !== '');
  const isCut = given.length > 1 || given[0] === 'ar';
  return isCut
    ? `Drag the point, ${keys}`
    : 'Set w and h, or ar, first: they crop the image around this point.';
}

/** Lists, below the image, how the result differs from the request. */
function Notices({ picture: { result, options, information } }: Pick<ViewerProps, 'picture'>) {
  const { fallback = '', warnings = '' } = result.loaded ?? {};
  const source = information?.source;
  const isBeyond = source !== undefined && isBeyondSource(options['crop'] ?? '', source);
  if (fallback === '' && warnings === '' && !isBeyond) return null;
  return (
    <div class="notice" role="status">
      {fallback !== '' && (
        <div>
          This is the fallback: the source failed with <code>{fallback}</code>.
        </div>
      )}
      {warnings !== '' && (
        <div>
          The service warns: <code>{warnings}</code>.{' '}
          {warnings
            .split(/[,;] /)
            .map((warning) => warningMeaning[warning])
            .join(' ')}
        </div>
      )}
      {isBeyond && (
        <div>
          The crop reaches beyond the source, which has {source.width} × {source.height} pixels. The
          result shows the part inside.
        </div>
      )}
    </div>
  );
}

interface CompareProps {
  readonly before: string | null;
  /** Determines the aspect ratio of the frame. */
  readonly after: Loaded;
}

/** Enlarges a small result to this width, px, and other results to twice their size. */
const minWidth = 400;
const maxScale = 2;
const roomForDivider = 280;

/** Two images in one frame, separated by a slider. */
function Compare({ before, after }: CompareProps) {
  const [percent, setPercent] = useState(50);
  const { width, height } = after;
  const ratio = width > 0 ? width / height : 1.5;
  const frame = {
    aspectRatio: String(ratio),
    maxWidth: `min(${Math.max(maxScale * width, minWidth)}px, max(${roomForDivider}px, var(--inner) * ${ratio}))`,
    '--divider': `${before === null ? 0 : percent}%`,
  };
  return (
    <figure class="compare" style={frame}>
      {before !== null && <img class="before" src={before} alt="The original" />}
      <img class="after" src={after.url ?? ''} alt="The result" />
      {before !== null && (
        <>
          <input
            class="whole"
            type="range"
            min="0"
            max="100"
            value={percent}
            aria-label="Divider between the original (left) and the result (right)"
            aria-valuetext={`${percent}% original`}
            onInput={(event) => setPercent(Number(event.currentTarget.value))}
          />
          <span class="divider" aria-hidden="true" />
          <span class="tag" aria-hidden="true">
            Original
          </span>
          <span class="tag" aria-hidden="true">
            Result
          </span>
        </>
      )}
    </figure>
  );
}

interface FormatsProps {
  readonly picture: Picture;
  readonly source: ImageFacts['source'];
  readonly onChoose: (format: string) => void;
}

/** Compares the suitable formats: bytes and time. */
function Formats({ picture, source, onChoose }: FormatsProps) {
  const { fmt: _, ...options } = picture.options;
  const { better, plain } = chooseFormats(options, { source });
  const formats = source.frames > 1 ? [...better, plain] : ['jxl', ...better, plain];
  return (
    <ul class="formats">
      {formats.map((format) => (
        <Format key={format} {...{ picture, source, format, onChoose }} />
      ))}
    </ul>
  );
}

interface FormatProps extends FormatsProps {
  readonly format: string;
}

function Format({ picture, source, format, onChoose }: FormatProps) {
  const { path, options, sign } = picture;
  const { loaded, failure } = useImage(path({ ...options, fmt: format }), plainAccept, sign);
  return (
    <li>
      <div class="format-picture">
        {loaded?.url != null && loaded.width > 0 && <img src={loaded.url} alt={`As ${format}`} />}
        {loaded?.width === 0 && <p class="quiet">This browser can't show it.</p>}
        <FailureNotice failure={failure} />
      </div>
      <strong>{format}</strong>
      <span>
        {loaded === null
          ? failure === null && '…'
          : `${formatBytes(loaded.bytes)}, ${formatChange(source.bytes, loaded.bytes)}`}
      </span>
      <span>{loaded !== null && `${formatNumber(Math.round(loaded.ms))} ms`}</span>
      <span class="quiet">{cacheMeaning[loaded?.cache ?? '']}</span>
      <button
        type="button"
        class="small"
        aria-pressed={options['fmt'] === format}
        onClick={() => onChoose(format)}
      >
        Use<span class="hidden"> {format}</span>
      </button>
    </li>
  );
}
