import { useEffect, useState } from 'preact/hooks';
import { Controls, toDefaults } from './controls.tsx';
import { isOnHost, useDeliveryHosts } from './delivery-host-url.ts';
import { ForeignUrl } from './foreign-url.tsx';
import { isProjectId, isSource, type ParameterTexts, readImageUrl } from './image-url.ts';
import { SelectField, TextField } from './labelled.tsx';
import { keepProject, lastPicture, lastProject } from './last-picture.ts';
import { LayersField } from './layers-field.tsx';
import { browsers } from './load-image.ts';
import { type ApiDescription, parametersIn } from './openapi.ts';
import { ProjectField } from './project-field.tsx';
import { Result } from './result.tsx';
import { type PageRoute, replaceRoute } from './route.ts';
import { initial, Samples } from './samples.tsx';
import type { Session } from './session.ts';
import { SourceHelp } from './source-help.tsx';
import { Title } from './title.tsx';
import { usePicture } from './use-picture.ts';
import { useProject } from './use-project.ts';
import { Welcome } from './welcome.tsx';

interface PlaygroundProps {
  readonly description: ApiDescription;
  readonly route: PageRoute;
  readonly session: Session;
}

const invalidSource =
  'Start with http:// or https:// and a host, or with a slash for a path on the site.';

/** Delay between the last slider or drag step and the page's new URL. */
const urlDelayMs = 150;

/**
 * An image, its parameters and the result. The URL contains the state, so that it can be shared.
 */
export function Playground({ description, route, session }: PlaygroundProps) {
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
    return givenUrl === '' ? { ...last.options, ...given } : given;
  });
  /** A URL of another service or a delivery host. */
  const [foreign, setForeign] = useState('');
  const [accept, setAccept] = useState<string>(browsers[0][0]);
  const [loads, setLoads] = useState(0);
  const onlyProject =
    session.next === null && session.projects?.length === 1 ? session.projects[0] : undefined;
  useEffect(() => {
    if (project === '' && onlyProject !== undefined) setProject(onlyProject.id);
  }, [project, onlyProject]);
  useEffect(() => {
    const replace = () => replaceRoute('/', { project, url: source, ...options });
    // Browsers limit how often a page replaces its URL, and report each attempt above the limit.
    const timer = setTimeout(replace, urlDelayMs);
    return () => clearTimeout(timer);
  }, [project, source, options, route]);
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

  const { baseUrl, parameters } = description;
  const picture = usePicture({ api, known, baseUrl, source, project, options, accept, loads });
  const defaults = toDefaults(known);
  return (
    <div class="playground">
      <div class="card">
        <Title text="Playground" />
        <ProjectField session={session} value={project} onChange={chooseProject} />
        <TextField
          label="Source image URL"
          value={source}
          onChange={enterSource}
          placeholder="https://www.example.com/photo.jpg"
          help="A URL on an allowed host, a path on the project's site, or an image URL of this service, which fills the controls."
          error={isSource(source) || isStarted(source) ? '' : invalidSource}
        />
        {api !== null && known !== null && (
          <ForeignUrl
            api={api}
            project={known}
            description={description}
            url={foreign}
            onUrl={setForeign}
            onRead={(read, meaning) => {
              setSource(read);
              setOptions(parametersIn(meaning, description));
            }}
          />
        )}
        <Samples project={project} near={known?.origin ?? source} onChoose={setSource} />
        <LayersField session={session} project={project} options={options} onChange={setOptions} />
        <Controls
          parameters={parameters}
          options={options}
          defaults={defaults}
          onChange={setOptions}
        />
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
        <Welcome session={session} hasProject={project !== ''} />
      )}
    </div>
  );
}

/** Returns whether more typing can make a text a source. */
const isStarted = (text: string): boolean =>
  ['http://', 'https://'].some((start) => start.startsWith(text.toLowerCase()));

/** Returns this page's address, which can differ from the service's base URL. */
const pageBase = (): string => new URL('.', location.href).href.replace(/\/+$/, '');
