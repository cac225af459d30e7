import { CopyText } from './copy.tsx';
import { launchCommand } from './launch-command.ts';
import { linkTo } from './route.ts';
import type { Session } from './session.ts';

interface WelcomeProps {
  readonly session: Session;
  readonly hasProject: boolean;
}

/** The next steps for a user without images. */
export function Welcome({ session, hasProject }: WelcomeProps) {
  const { api, projects } = session;
  return (
    <section class="card welcome" aria-label="What to do next">
      <h2>What this is</h2>
      <p>
        This service fetches a source image, transforms it as the URL says, and delivers it in the
        best format that the browser supports. A <strong>project</strong> lists the hosts whose
        images it may use.
      </p>
      {hasProject ? (
        <>
          <h2>Next: an image</h2>
          <p>
            Paste the URL of an image on a host of the project's allowlist, and change the
            parameters next to it.
          </p>
        </>
      ) : api !== null ? (
        <>
          <h2>Next: a project</h2>
          {projects?.length === 0 ? (
            <p>
              There is none yet. <a href={linkTo('/projects')}>Create a project</a> with the address
              of your site.
            </p>
          ) : (
            <p>
              Choose a project, or <a href={linkTo('/projects')}>create another one</a>.
            </p>
          )}
        </>
      ) : (
        <>
          <h2>Next: a project</h2>
          <ol>
            <li>
              <a href={linkTo('/sign-in')}>Sign in</a> with the API key that the first start has
              printed (<code>sk_…</code>) and <a href={linkTo('/projects')}>create a project</a>.
            </li>
            <li>
              Or create one in a terminal, and paste the id that this prints as the project:
              <CopyText
                label="the command"
                text={`${launchCommand('admin', 'npm run --silent admin --')} projects create --name "My site" --origin https://www.example.com/`}
              />
            </li>
            <li>
              Or start a demo with sample images:
              <CopyText
                label="the command of the demo"
                text={launchCommand('demo', 'npm run demo')}
              />
            </li>
          </ol>
          <p class="quiet">
            The key is lost? <code>npm run --silent admin -- keys create --root</code> makes another
            one.
          </p>
        </>
      )}
    </section>
  );
}
