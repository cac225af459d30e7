/** Pictures of the sample origin (`npm run origin`, `npm run demo`), one for each kind of source. */
export const sampleNames = ['landscape.jpg', 'lantern.png', 'pulse.gif'] as const;

interface SamplesProps {
  /** A URL on the origin whose pictures are offered. */
  readonly near: string;
  readonly onChoose: (url: string) => void;
}

/** Sample pictures to choose, where the origin may be the sample origin: that is on this machine. */
export function Samples({ near, onChoose }: SamplesProps) {
  if (!URL.canParse(near)) return null;
  const { hostname, origin } = new URL(near);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') return null;
  return (
    <p class="samples">
      Samples:{' '}
      {sampleNames.map((name) => (
        <button
          key={name}
          type="button"
          class="small"
          onClick={() => onChoose(`${origin}/${name}`)}
        >
          {name}
        </button>
      ))}
    </p>
  );
}
