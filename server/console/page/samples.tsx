/** Pictures of the sample origin (`npm run origin`, `npm run demo`), one for each kind of source. */
const sampleNames = ['landscape.jpg', 'lantern.png', 'pulse.gif'] as const;

const { project: startProject = '', pictures = '' } = document.getElementById('app')?.dataset ?? {};

/** What the playground opens with, as `SERVICE_CONSOLE_PICTURES` has it: '' and none by default. */
export const start: { readonly project: string; readonly pictures: readonly string[] } = {
  project: startProject,
  pictures: pictures.split(' ').filter((url) => url !== ''),
};

interface SamplesProps {
  readonly project: string;
  /** A URL on the origin whose pictures are offered. */
  readonly near: string;
  readonly onChoose: (url: string) => void;
}

/**
 * Pictures to choose: those that the service was started with, or the sample pictures where the origin
 * may be the sample origin, that is on this machine.
 */
export function Samples({ project, near, onChoose }: SamplesProps) {
  const isStart = project !== '' && project === start.project;
  const offered = isStart ? start.pictures : samplesNear(near);
  if (offered.length === 0) return null;
  return (
    <p class="samples">
      {isStart ? 'Pictures' : 'Samples'}:{' '}
      {offered.map((url) => (
        <button key={url} type="button" class="small" onClick={() => onChoose(url)}>
          {nameOf(url)}
        </button>
      ))}
    </p>
  );
}

function samplesNear(near: string): readonly string[] {
  if (!URL.canParse(near)) return [];
  const { hostname, origin } = new URL(near);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') return [];
  return sampleNames.map((name) => `${origin}/${name}`);
}

/** The path of a picture, for a person. */
function nameOf(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname.slice(1) : url;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
