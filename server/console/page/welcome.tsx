import { CopyText } from './copy.tsx';
import { launchCommand } from './launch-command.ts';
import { linkTo } from './route.ts';
import type { Session } from './session.ts';

const admin = launchCommand('admin', 'npm run --silent admin --');

interface WelcomeProps {
  readonly session: Session;
  readonly hasProject: boolean;
}

/** The next steps for a user without images. */
export function Welcome({ session, hasProject }: WelcomeProps) {
  const { api, projects } = session;
  return (
    <section class="card welcome" aria-label="What to do next">
      <h2>About this service</h2>
      <p>
        This service fetches a source image, transforms it by the parameters in the URL, and
        delivers it in the best format that the browser supports. A <strong>project</strong> lists
        the hosts of its source images.
      </p>
      {hasProject ? (
        <>
          <h2>Next: an image</h2>
          <p>
            Paste the URL of an image on an allowed host, or its path on the project's site, and
            change the parameters.
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
          <p>There are three ways:</p>
          <ul>
            <li>
              <a href={linkTo('/sign-in')}>Sign in</a> with the API key that the first start printed
              (<code>sk_…</code>), and <a href={linkTo('/projects')}>create a project</a>.
            </li>
            <li>
              Create a project in a terminal, and paste the printed id into <em>Project</em>:
              <CopyText
                label="the command"
                text={`${admin} projects create --name "My site" --origin https://www.example.com/`}
              />
            </li>
            <li>
              Start a demo with sample images:
              <CopyText
                label="the command of the demo"
                text={launchCommand('demo', 'npm run demo')}
              />
            </li>
          </ul>
          <p class="quiet">
            If the key is lost, <code>{admin} keys create --root</code> creates another.
          </p>
        </>
      )}
    </section>
  );
}
