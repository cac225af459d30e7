import { useEffect, useState } from 'preact/hooks';
import { browsers } from '../api/image.ts';
import { isProjectId, isSource, type ParameterTexts, readImageUrl } from '../api/image-url.ts';
import { parametersIn } from '../api/openapi.ts';
import { initial, keepProject, lastPicture, lastProject, launchCommand } from '../api/page-data.ts';
import { useProject } from '../api/session.ts';
import { useApp } from '../app.ts';
import { Controls } from '../components/controls.tsx';
import { CopyText } from '../components/copy.tsx';
import { SelectField, TextField } from '../components/fields.tsx';
import { Title } from '../components/page-section.tsx';
import { Samples, SourceHelp } from '../components/samples.tsx';
import { linkTo, replaceRoute } from '../route.ts';
import { ForeignUrl, isOnHost, useDeliveryHosts } from './foreign-url.tsx';
import { LayersField } from './layers-field.tsx';
import { Result } from './result.tsx';
import { usePicture } from './use-picture.ts';

const invalidSource =
  'Start with http:// or https:// and a host, or with a slash for a path on the site.';

/** Delay between the last slider or drag step and the page's new URL. */
const urlDelayMs = 150;

/**
 * An image, its parameters and the result. The URL contains the state, so that it can be shared.
 */
export function Playground() {
  const { description, route, session } = useApp();
  const { project: givenProject = '', url: givenUrl = '', ...givenOptions } = route.query;
  const isEmpty = givenProject === '' && givenUrl === '';
  const [project, setProject] = useState(() =>
    isEmpty ? lastProject() || initial.project : givenProject,
  );
  const [last] = useState(() => lastPicture(project));
  const [source, setSource] = useState(
    givenUrl ||
      last.source ||
      (isEmpty && project === initial.project && initial.pictures[0]) ||
      '',
  );
  const [options, setOptions] = useState<ParameterTexts>(() => {
    const given = parametersIn(givenOptions, description);
    // Other parameters would override the preset's.
    return givenUrl === '' && !('preset' in given) ? { ...last.options, ...given } : given;
  });
  /** A URL of another service or a delivery host. */
  const [foreign, setForeign] = useState('');
  const [accept, setAccept] = useState<string>(browsers[0][0]);
  const [loads, setLoads] = useState(0);
  const onlyProject =
    !session.hasMore && session.projects?.length === 1 ? session.projects[0] : undefined;
  useEffect(() => {
    if (project === '' && onlyProject !== undefined) setProject(onlyProject.id);
  }, [project, onlyProject]);
  useEffect(() => {
    const replace = () => replaceRoute('/', { project, url: source, ...options });
    // Browsers limit how often a page replaces its URL, and report each attempt above the limit.
    const timer = setTimeout(replace, urlDelayMs);
    return () => clearTimeout(timer);
  }, [project, source, options]);
  useEffect(() => {
    if (isProjectId(project)) keepProject(project);
  }, [project]);

  const { api } = session;
  const known = useProject(session, isProjectId(project) ? project : '') ?? null;
  const deliveryHosts = useDeliveryHosts(api, known);
  const chooseProject = (id: string) => {
    setProject(id);
    const kept = lastPicture(id);
    if (kept.source === '') return;
    setSource(kept.source);
    setOptions(kept.options);
  };
  const enterSource = (text: string) => {
    if (isOnHost(text.trim(), deliveryHosts)) return setForeign(text.trim());
    const own = readImageUrl(text.trim(), [description.baseUrl, pageBase()]);
    setSource(own?.source ?? text.trim());
    if (own === null) return;
    setProject(own.project);
    setOptions(parametersIn(own.query, description));
  };

  const picture = usePicture({ known, source, project, options, accept, loads });
  return (
    <div class="playground">
      <div class="card">
        <Title text="Playground" />
        <ProjectField value={project} onChange={chooseProject} />
        <TextField
          label="Source image URL"
          value={source}
          onChange={enterSource}
          placeholder="https://www.example.com/photo.jpg"
          help="On an allowed host, or an image URL of this service."
          error={isSource(source) || isStarted(source) ? '' : invalidSource}
        />
        <Samples project={project} near={known?.origin ?? source} onChoose={setSource} />
        <Controls
          parameters={description.parameters}
          project={known}
          values={options}
          onChange={setOptions}
        />
        {api !== null && known !== null && (
          <ForeignUrl
            api={api}
            project={known}
            url={foreign}
            onUrl={setForeign}
            onRead={(read, meaning) => {
              setSource(read);
              setOptions(parametersIn(meaning, description));
            }}
          />
        )}
        <LayersField project={project} options={options} onChange={setOptions} />
        <SelectField
          label="For a browser that supports"
          help="The formats from which auto chooses, by the Accept header."
          value={accept}
          onChange={setAccept}
          options={browsers}
        />
      </div>
      {project !== '' && isSource(source) ? (
        <Result
          picture={picture}
          onChange={setOptions}
          onReload={() => setLoads(loads + 1)}
          help={
            <SourceHelp
              source={source}
              project={project}
              code={picture.result.failure?.code ?? ''}
            />
          }
        />
      ) : (
        <Welcome hasProject={project !== ''} />
      )}
    </div>
  );
}

/** Returns whether more typing can make a text a source. */
const isStarted = (text: string): boolean =>
  ['http://', 'https://'].some((start) => start.startsWith(text.toLowerCase()));

/** Returns this page's address, which can differ from the service's base URL. */
const pageBase = (): string => new URL('.', location.href).href.replace(/\/+$/, '');

interface ProjectFieldProps {
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** Selects a project of the key, or takes an id, which needs no key, or if the key has many projects. */
function ProjectField({ value, onChange }: ProjectFieldProps) {
  const { session } = useApp();
  const projects = session.projects ?? [];
  if (projects.length === 0 || session.hasMore) {
    const set = (text: string) => onChange(text.trim());
    return (
      <TextField
        label="Project"
        help="Its id. Example: prj_32gx1acb9wtykf3m"
        value={value}
        onChange={set}
      />
    );
  }
  const isListed = value === '' || projects.some(({ id }) => id === value);
  const options = [
    ['', 'choose'] as const,
    ...(isListed ? [] : [[value, value] as const]),
    ...projects.map(({ id, name }) => [id, `${name} (${id})`] as const),
  ];
  return (
    <SelectField
      label="Project"
      help="Its defaults, presets and layers apply."
      value={value}
      onChange={onChange}
      options={options}
    />
  );
}

const admin = launchCommand('admin', 'npm run --silent admin --');

/** The next steps for a user without images. */
function Welcome({ hasProject }: { readonly hasProject: boolean }) {
  const { api, projects } = useApp().session;
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
              You have none yet. <a href={linkTo('/projects')}>Create a project</a> with the address
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
