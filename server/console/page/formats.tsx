import type { ImageFacts } from '@image-delivery/sdk';
import { cacheMeaning } from './cache-meaning.ts';
import { formatBytes, formatChange, formatNumber } from './format.ts';
import { useImage } from './load-image.ts';
import { FailureNotice } from './notice.tsx';
import { chooseFormats } from './picture-code.ts';
import { type Picture, plainAccept } from './use-picture.ts';

interface FormatsProps {
  readonly picture: Picture;
  readonly source: ImageFacts['source'];
  readonly onChoose: (format: string) => void;
}

/** Compares the suitable formats: bytes and time. */
export function Formats({ picture, source, onChoose }: FormatsProps) {
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
  const isShown = loaded !== null && loaded.width > 0;
  return (
    <li>
      <div class="format-picture">
        {isShown && <img src={loaded.url ?? ''} alt={`As ${format}`} />}
        {loaded?.width === 0 && <p class="quiet">This browser does not show it.</p>}
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
