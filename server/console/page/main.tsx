import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type HealthHistory, useHealth } from './health.ts';
import { type Interface, readInterface } from './interface.ts';
import { FailureNotice } from './notice.tsx';
import { focusMain, linkTo, mayLeave, usePlace } from './place.ts';
import { Playground } from './playground.tsx';
import { ProjectPage } from './project-page.tsx';
import { ProjectsPage } from './projects-page.tsx';
import { Failure, fetchJson } from './service.ts';
import { ServicePage } from './service-page.tsx';
import { type Session, useSession } from './session.ts';
import { SignIn } from './sign-in.tsx';

/** The page at `/`. */
function App() {
  const place = usePlace();
  const session = useSession();
  const history = useHealth();
  const [description, setDescription] = useState<Interface | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    fetchJson('openapi.json').then(
      (document) => setDescription(readInterface(document)),
      (error) => setFailure(Failure.of(error)),
    );
  }, []);
  const isSignedIn = session.projects !== null;
  useEffect(() => {
    if (isSignedIn && place.path === '/sign-in') location.replace(linkTo('/projects'));
  }, [isSignedIn, place.path]);
  return (
    <>
      <Bar path={place.path} {...{ session, history }} />
      <main id="main" tabIndex={-1}>
        <FailureNotice failure={failure} />
        {description !== null && <Shown {...{ place, session, history, description }} />}
      </main>
    </>
  );
}

interface BarProps {
  readonly path: string;
  readonly session: Session;
  readonly history: HealthHistory;
}

function Bar({ path, session, history: { samples, failure } }: BarProps) {
  const signOut = () => {
    if (!mayLeave()) return;
    session.signOut();
    focusMain();
  };
  const status = failure !== null ? 'no answer' : samples.at(-1)?.health.status;
  const link = (to: string, name: string) => (
    <a href={linkTo(to)} aria-current={path.split('/')[1] === to.slice(1) ? 'page' : undefined}>
      {name}
    </a>
  );
  return (
    <header class="bar">
      {/* A button, because a link would change the fragment, which is the route. */}
      <button type="button" class="skip" onClick={focusMain}>
        Skip to the content
      </button>
      <a class="brand" href={linkTo('/')}>
        Image delivery
      </a>
      <nav aria-label="Pages">
        {link('/', 'Playground')}
        {link('/projects', 'Projects')}
        {link('/service', 'Service')}
        <a href="docs">API reference</a>
      </nav>
      <span class="account">
        <a class={`state ${status === 'ok' ? 'good' : 'bad'}`} href={linkTo('/service')}>
          {status ?? 'asking'}
        </a>
        {session.api === null ? (
          link('/sign-in', 'Sign in')
        ) : (
          <button type="button" class="small" onClick={signOut}>
            Sign out
          </button>
        )}
      </span>
    </header>
  );
}

type ShownProps = Pick<BarProps, 'session' | 'history'> & {
  readonly place: ReturnType<typeof usePlace>;
  readonly description: Interface;
};

function Shown({ place, session, history, description }: ShownProps) {
  const [, page = '', id] = place.path.split('/');
  if (page === 'service') return <ServicePage history={history} />;
  if (page === '') {
    // A link to another project or picture resets the state.
    const { project = '', url = '' } = place.query;
    return <Playground key={`${project} ${url}`} {...{ place, session, description }} />;
  }
  if (page !== 'projects' && page !== 'sign-in') return <p>This page does not exist.</p>;
  const { api, projects } = session;
  if (api === null || projects === null) return <SignIn session={session} />;
  if (id === undefined) return <ProjectsPage {...{ api, session, description }} />;
  const project = projects.find((one) => one.id === id);
  if (project === undefined) return <p>The key has no project {id}.</p>;
  const onChange = session.keep;
  return <ProjectPage key={id} {...{ api, project, description, history, onChange }} />;
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
