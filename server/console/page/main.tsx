import { render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { computeState, useHealth } from './api/health.ts';
import { type ApiDescription, readOpenApi } from './api/openapi.ts';
import { launchCommand } from './api/page-data.ts';
import { Failure, fetchJson } from './api/service.ts';
import { useProject, useSession } from './api/session.ts';
import { type App, AppContext, ProjectContext, useApp } from './app.ts';
import { ActionForm } from './components/action-form.tsx';
import { TextField } from './components/fields.tsx';
import { FailureNotice, Loading } from './components/notice.tsx';
import { Title, titleId, UnknownPage } from './components/page-section.tsx';
import { ProjectPage } from './pages/project-page.tsx';
import { ProjectsPage } from './pages/projects-page.tsx';
import { ServicePage } from './pages/service-page.tsx';
import { Playground } from './playground/playground.tsx';
import { confirmLeaving, linkTo, moveFocus, useRoute } from './route.ts';

function Console() {
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
      <Header {...{ route, session, history }} />
      <main id="main" tabIndex={-1}>
        <FailureNotice failure={failure} />
        {description === null && failure === null && <Loading />}
        {description !== null && (
          <AppContext.Provider value={{ route, session, history, description }}>
            <Page />
          </AppContext.Provider>
        )}
      </main>
    </>
  );
}

function Header({ route: { path }, session, history }: Omit<App, 'description'>) {
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

function Page() {
  const app = useApp();
  const { route, session } = app;
  const [, page = '', id = '', segment = '', ...more] = route.path.split('/');
  const project = useProject(session, page === 'projects' ? id : '');
  if (page === 'service') return <ServicePage />;
  // A followed link or a changed address resets the state.
  if (page === '') return <Playground key={route} />;
  const isKnown = page === 'projects' || (page === 'sign-in' && id === '');
  if (!isKnown || more.length > 0) return <UnknownPage back="/" to="the playground" />;
  const { api, projects } = session;
  if (api === null || projects === null) return <SignIn />;
  if (id === '') return <ProjectsPage api={api} />;
  if (project === undefined) return <Loading />;
  if (project === null) {
    const message = `Project ${id} does not exist, or the key cannot access it.`;
    return <UnknownPage message={message} back="/projects" to="all projects" />;
  }
  return (
    <ProjectContext.Provider value={{ ...app, api, project }}>
      <ProjectPage key={`${id}/${segment}`} segment={segment} />
    </ProjectContext.Provider>
  );
}

function SignIn() {
  const { session } = useApp();
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
if (root !== null) render(<Console />, root);
