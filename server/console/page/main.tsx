import { render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { computeState, type HealthHistory, missingWorker, useHealth } from './api/health.ts';
import { type ApiDescription, readOpenApi } from './api/openapi.ts';
import { launchCommand } from './api/page-data.ts';
import { Failure, fetchJson } from './api/service.ts';
import { type Session, useProject, useSession } from './api/session.ts';
import { ActionForm } from './components/action-form.tsx';
import { TextField } from './components/fields.tsx';
import { FailureNotice, Loading } from './components/notice.tsx';
import { Title, titleId, UnknownPage } from './components/page-section.tsx';
import { ProjectPage } from './pages/project-page.tsx';
import { ProjectsPage } from './pages/projects-page.tsx';
import { ServicePage } from './pages/service-page.tsx';
import { Playground } from './playground/playground.tsx';
import { confirmLeaving, linkTo, moveFocus, type PageRoute, useRoute } from './route.ts';

function App() {
  const route = useRoute();
  const session = useSession();
  const history = useHealth();
  const [description, setDescription] = useState<ApiDescription | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    fetchJson('openapi.json').then(
      (document) => setDescription(readOpenApi(document)),
      (error) => setFailure(Failure.of(error)),
    );
  }, []);
  const isSignedIn = session.projects !== null;
  const shownPath = useRef(route.path);
  useLayoutEffect(() => {
    if (shownPath.current === route.path) return;
    shownPath.current = route.path;
    // The followed link might be gone. Move the focus, so that the next tab stop is on the new
    // page.
    moveFocus(document.getElementById(titleId) === null ? 'main' : titleId);
    scrollTo(0, 0);
  }, [route.path]);
  useEffect(() => {
    if (isSignedIn && route.path === '/sign-in') location.replace(linkTo('/projects'));
  }, [isSignedIn, route.path]);
  return (
    <>
      <Header path={route.path} session={session} history={history} />
      <main id="main" tabIndex={-1}>
        <FailureNotice failure={failure} />
        {description === null && failure === null && <Loading />}
        {description !== null && (
          <Page route={route} session={session} history={history} description={description} />
        )}
      </main>
    </>
  );
}

interface HeaderProps {
  readonly path: string;
  readonly session: Session;
  readonly history: HealthHistory;
}

function Header({ path, session, history }: HeaderProps) {
  const signOut = () => {
    if (!confirmLeaving()) return;
    session.signOut();
    moveFocus('main');
  };
  const { word, isGood } = computeState(history, session.api !== null);
  const link = (to: string, name: string) => (
    <a href={linkTo(to)} aria-current={path.split('/')[1] === to.slice(1) ? 'page' : undefined}>
      {name}
    </a>
  );
  return (
    <header class="bar">
      {/* A button, because a link would change the fragment, which is the route. */}
      <button type="button" class="skip" onClick={() => moveFocus('main')}>
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
        <a class={`state ${isGood ? 'good' : 'bad'}`} href={linkTo('/service')}>
          {word}
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

interface PageProps {
  readonly route: PageRoute;
  readonly session: Session;
  readonly history: HealthHistory;
  readonly description: ApiDescription;
}

function Page({ route, session, history, description }: PageProps) {
  const [, page = '', id = '', segment = '', ...more] = route.path.split('/');
  const project = useProject(session, page === 'projects' ? id : '');
  if (page === 'service') return <ServicePage history={history} api={session.api} />;
  if (page === '') {
    // A link to another project or image resets the state.
    const { project = '', url = '' } = route.query;
    return (
      <Playground
        key={`${project} ${url}`}
        route={route}
        session={session}
        description={description}
      />
    );
  }
  const isKnown = page === 'projects' || (page === 'sign-in' && id === '');
  if (!isKnown || more.length > 0) return <UnknownPage back="/" to="the playground" />;
  const { api, projects } = session;
  if (api === null || projects === null) return <SignIn session={session} />;
  if (id === '') return <ProjectsPage api={api} session={session} description={description} />;
  if (project === undefined) return <Loading />;
  if (project === null) {
    const message = `Project ${id} does not exist, or the key cannot access it.`;
    return <UnknownPage message={message} back="/projects" to="all projects" />;
  }
  const onChange = session.setProject;
  return (
    <ProjectPage
      key={`${id}/${segment}`}
      segment={segment}
      api={api}
      project={project}
      query={route.query}
      description={description}
      onChange={onChange}
      onDelete={session.removeProject}
      missingWorker={missingWorker(history)}
    />
  );
}

function SignIn({ session }: { readonly session: Session }) {
  const [key, setKey] = useState('');
  const signIn = async () => {
    await session.signIn(key.trim());
    moveFocus('main');
    return '';
  };
  return (
    <section class="card narrow">
      <Title text="Sign in" />
      <p>
        An API key manages projects. The service printed a key when it first started;{' '}
        <code>{launchCommand('admin', 'npm run admin --')} keys create --help</code> explains how to
        create more, also for a single project or read-only.
      </p>
      <FailureNotice failure={session.failure} />
      <ActionForm label="Sign in" submit="Sign in" onSubmit={signIn} disabled={key.trim() === ''}>
        {() => (
          <TextField
            label="API key"
            type="password"
            value={key}
            onChange={setKey}
            required
            help="It stays in this tab, and is sent to this service only. Closing the tab or signing out removes it. Example: sk_…"
          />
        )}
      </ActionForm>
    </section>
  );
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
