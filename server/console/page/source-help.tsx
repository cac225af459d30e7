import { launchCommand } from './launch-command.ts';
import { linkTo } from './route.ts';
import { isSample } from './samples.tsx';

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
