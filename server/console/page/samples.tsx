/** Pictures of the sample origin (`npm run origin`, `npm run demo`), one for each kind of source. */
const sampleNames = ['landscape.jpg', 'lantern.png', 'pulse.gif'] as const;

const { project = '', pictures = '' } = document.getElementById('app')?.dataset ?? {};

/** The first project and images of the playground (`SERVICE_CONSOLE_PICTURES`); '' and none by default. */
export const initial = { project, pictures: pictures.split(' ').filter((url) => url !== '') };

interface SamplesProps {
  readonly project: string;
  /** A URL on the origin of the images. */
  readonly near: string;
  readonly onChoose: (url: string) => void;
}

/**
 * Images to choose: the images of `SERVICE_CONSOLE_PICTURES`, or the sample images if the origin is on this
 * machine and may be the sample origin.
 */
export function Samples({ project, near, onChoose }: SamplesProps) {
  const isInitial = project !== '' && project === initial.project;
  const offered = isInitial ? initial.pictures : samplesNear(near);
  if (offered.length === 0) return null;
  return (
    <p class="samples">
      {isInitial ? 'Pictures' : 'Samples'}:{' '}
      {offered.map((url) => (
        <button key={url} type="button" class="small" onClick={() => onChoose(url)}>
          {nameOf(url)}
        </button>
      ))}
    </p>
  );
}

/** Whether a source is a sample image of an origin on this machine. */
export const isSample = (source: string): boolean => samplesNear(source).includes(source);

function samplesNear(near: string): readonly string[] {
  if (!URL.canParse(near)) return [];
  const { hostname, origin } = new URL(near);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') return [];
  return sampleNames.map((name) => `${origin}/${name}`);
}

/** The decoded path of an image. */
function nameOf(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname.slice(1) : url;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
