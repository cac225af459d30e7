import { initial, launchCommand } from '../api/page-data.ts';
import { linkTo } from '../route.ts';

/** Images of the sample origin (`npm run origin`, `npm run demo`), one per kind of source. */
const sampleNames = ['landscape.jpg', 'lantern.png', 'pulse.gif'] as const;

interface SamplesProps {
  readonly project: string;
  /** A URL on the images' origin. */
  readonly near: string;
  readonly onChoose: (url: string) => void;
}

/**
 * Suggested images: those in `SERVICE_CONSOLE_PICTURES`, or the sample images if the origin is on
 * this machine and so might be the sample origin.
 */
export function Samples({ project, near, onChoose }: SamplesProps) {
  const isInitial = project !== '' && project === initial.project;
  const offered = isInitial ? initial.pictures : samplesNear(near);
  if (offered.length === 0) return null;
  return (
    <p class="samples">
      {isInitial ? 'Images' : 'Samples'}:{' '}
      {offered.map((url) => (
        <button key={url} type="button" class="small" onClick={() => onChoose(url)}>
          {toName(url)}
        </button>
      ))}
    </p>
  );
}

/** Returns whether a source is a sample image of an origin on this machine. */
const isSample = (source: string): boolean => samplesNear(source).includes(source);

function samplesNear(near: string): readonly string[] {
  if (!URL.canParse(near)) return [];
  const { hostname, origin } = new URL(near);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') return [];
  return sampleNames.map((name) => `${origin}/${name}`);
}

/** Returns an image's decoded path. */
function toName(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname.slice(1) : url;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

interface SourceHelpProps {
  readonly source: string;
  readonly project: string;
  /** The error code, or ''. */
  readonly code: string;
}

/** Suggestions for a failed image. */
export function SourceHelp({ source, project, code }: SourceHelpProps) {
  if (code === 'source_not_allowed' && URL.canParse(source)) {
    const { hostname } = new URL(source);
    return (
      <p>
        <a href={linkTo(`/projects/${project}/hosts`, { host: hostname })}>Allow {hostname}</a> in
        the project, then load the image again.
      </p>
    );
  }
  if (code === '' || !isSample(source)) return null;
  return (
    <p>
      Sample images come from a program on the service's machine:{' '}
      <code>{launchCommand('demo', 'npm run origin')}</code> starts it. Your own images work without
      it.
    </p>
  );
}
