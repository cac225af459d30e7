import type { ImageFacts } from '@image-delivery/sdk';
import { useState } from 'preact/hooks';
import { Compare } from './compare.tsx';
import { CopyText } from './copy.tsx';
import { type Fact, FactList } from './facts.tsx';
import { formatBytes, formatChange, formatNumber } from './format.ts';
import { Information } from './information.tsx';
import type { ImageState, Loaded } from './load-image.ts';
import { FailureNotice } from './notice.tsx';
import type { Snippet } from './snippets.ts';

interface ResultProps {
  readonly result: ImageState;
  readonly original: ImageState;
  /** Null until it is loaded. */
  readonly information: ImageFacts | null;
  readonly url: string;
  /** Whether the URL has a signature, which expires. */
  readonly isSigned: boolean;
  readonly snippets: readonly Snippet[];
  readonly onReload: () => void;
}

/** The result of the playground and its original, with facts and code. */
export function Result(props: ResultProps) {
  const { result, original, information, url, isSigned, snippets, onReload } = props;
  const source = information?.source ?? null;
  const { loaded, loading, failure } = result;
  return (
    <section class="result" aria-label="Result" aria-busy={loading}>
      <div class="stage">
        <FailureNotice failure={failure} />
        {loaded?.url != null && (
          <Compare before={original.loaded?.url ?? null} after={{ ...loaded, url: loaded.url }} />
        )}
        {loaded?.text != null && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable text is scrolled with the keyboard.
          <section class="text-result" aria-label="Text" tabIndex={0}>
            <pre>{loaded.text}</pre>
          </section>
        )}
        {loaded !== null && loaded.fallback !== '' && (
          <p class="notice">
            This is the fallback: the source failed with <code>{loaded.fallback}</code>.
          </p>
        )}
        {loaded !== null && loaded.warnings !== '' && (
          <p class="notice">
            The service warns: <code>{loaded.warnings}</code>.
          </p>
        )}
        <div role="status">{loaded !== null && <FactList facts={factsOf(loaded, source)} />}</div>
        <CopyText label="URL" text={url} />
      </div>
      <div class="more">
        {loaded !== null && <Steps loaded={loaded} />}
        <p>
          <button type="button" aria-disabled={loading} onClick={() => !loading && onReload()}>
            {loading ? 'Loading…' : 'Load again'}
          </button>
        </p>
        {isSigned && (
          <p class="quiet">
            The project accepts signed URLs only. This URL is valid for an hour at most; the URLs of
            your pages are signed by your backend.
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

const cacheMeaning: Readonly<Record<string, string>> = {
  memory: 'held in memory',
  disk: 'read from the disk',
  miss: 'rendered for this request',
};

/** The facts about a result. @param source null if unknown */
function factsOf(loaded: Loaded, source: ImageFacts['source'] | null): readonly Fact[] {
  const { type, bytes, width, height, ms, cache } = loaded;
  const compared = (text: (source: ImageFacts['source']) => string) =>
    source === null ? '' : text(source);
  const pixels: Fact = [
    'Pixels',
    `${width} × ${height}`,
    compared((from) => `from ${from.width} × ${from.height}`),
  ];
  return [
    ['Format', type, compared(({ format }) => `from ${format}`)],
    [
      'Size',
      formatBytes(bytes),
      compared((from) => `${formatChange(from.bytes, bytes)} of ${formatBytes(from.bytes)}`),
    ],
    ...(width === 0 ? [] : [pixels]),
    ['Time', `${formatNumber(Math.round(ms))} ms`, 'in this browser'],
    ['Cache', cache, cacheMeaning[cache] ?? ''],
  ];
}

/** A bar of the render's steps, as wide as their durations. */
function Steps({ loaded: { steps } }: { loaded: Loaded }) {
  const total = steps.reduce((sum, { ms }) => sum + ms, 0);
  if (total === 0) return null;
  return (
    <div class="steps">
      <div class="steps-bar" aria-hidden="true">
        {steps.map(({ name, ms }) => (
          <span key={name} style={{ flexGrow: ms / total }} />
        ))}
      </div>
      <ul>
        {steps.map(({ name, ms }) => (
          <li key={name}>
            {name} {formatNumber(ms)} ms
          </li>
        ))}
      </ul>
    </div>
  );
}

interface SnippetsProps {
  readonly snippets: readonly Snippet[];
  readonly isLoading: boolean;
}

function Snippets({ snippets, isLoading }: SnippetsProps) {
  const [chosen, setChosen] = useState('');
  const shown = snippets.find(({ title }) => title === chosen) ?? snippets[0];
  return (
    <div>
      <fieldset class="choices">
        <legend class="hidden">Code for</legend>
        <div>
          {snippets.map(({ title }) => (
            <label key={title}>
              <input
                type="radio"
                name="snippet"
                checked={title === shown?.title}
                onChange={() => setChosen(title)}
              />
              {title}
            </label>
          ))}
        </div>
      </fieldset>
      {shown?.code != null && <CopyText label={`code for ${shown.title}`} text={shown.code} />}
      {shown?.code === null && (
        <p class="quiet">
          The code for {shown.title} states the size and the kind of the picture, which{' '}
          {isLoading ? 'are being loaded' : 'are not known: it is a text, or it failed'}.
        </p>
      )}
    </div>
  );
}
