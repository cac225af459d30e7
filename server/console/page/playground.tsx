import type { ImageFacts } from '@image-delivery/sdk';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Controls, defaultsOf } from './controls.tsx';
import { imagePath, imageUrl, isSource, type ParameterTexts, readImageUrl } from './image-url.ts';
import { SelectField, TextField } from './labelled.tsx';
import { LayersField } from './layers-field.tsx';
import { browsers, type ImageState, useImage } from './load-image.ts';
import { type ApiDescription, parametersIn } from './openapi.ts';
import type { PictureFacts } from './picture-code.ts';
import { ProjectField } from './project-field.tsx';
import { Result } from './result.tsx';
import { type PageRoute, replaceRoute } from './route.ts';
import { initial, Samples } from './samples.tsx';
import type { Session } from './session.ts';
import { useSignPath } from './sign-path.ts';
import { factsOptions, type Known, snippets } from './snippets.ts';
import { Title } from './title.tsx';
import { useProject } from './use-project.ts';
import { Welcome } from './welcome.tsx';

interface PlaygroundProps {
  readonly description: ApiDescription;
  readonly route: PageRoute;
  readonly session: Session;
}

/** At the highest quality without modern formats the output is the source, or nearly the same. */
const originalOptions: ParameterTexts = { q: '100' };
const [plainAccept] = browsers[2];

/** A picture, its parameters and the result. The state is in the URL, which can be shared. */
export function Playground({ description, route, session }: PlaygroundProps) {
  const { project: givenProject = '', url: givenUrl = '', ...givenOptions } = route.query;
  const isEmpty = givenProject === '' && givenUrl === '';
  const [project, setProject] = useState(isEmpty ? initial.project : givenProject);
  const [source, setSource] = useState(isEmpty ? (initial.pictures[0] ?? '') : givenUrl);
  const [options, setOptions] = useState<ParameterTexts>(() =>
    givenUrl === '' ? { w: '800' } : parametersIn(givenOptions, description),
  );
  const [accept, setAccept] = useState<string>(browsers[0][0]);
  const [loads, setLoads] = useState(0);
  const onlyProject =
    session.next === null && session.projects?.length === 1 ? session.projects[0] : undefined;
  useEffect(() => {
    if (project === '' && onlyProject !== undefined) setProject(onlyProject.id);
  }, [project, onlyProject]);
  useEffect(
    () => replaceRoute('/', { project, url: source, ...options }),
    [project, source, options],
  );

  const enterSource = (text: string) => {
    const own = readImageUrl(text.trim(), [description.baseUrl, pageBase()]);
    setSource(own?.source ?? text.trim());
    if (own === null) return;
    setProject(own.project);
    setOptions(parametersIn(own.query, description));
  };

  const isComplete = project !== '' && isSource(source);
  const path = (wanted: ParameterTexts) =>
    isComplete ? imagePath({ source, project, options: wanted }) : null;
  const known = useProject(session, /^prj_\w{16}$/.test(project) ? project : '') ?? null;
  const sign = useSignPath(session.api, known);
  const result = useImage(path(options), accept, sign, loads);
  const original = useImage(path(originalOptions), plainAccept, sign);
  const facts = useImage(path(factsOptions(options)), plainAccept, sign);
  const text = facts.loaded?.text ?? null;
  const information = useMemo(() => (text === null ? null : readInformation(text)), [text]);
  const defaults = defaultsOf(known);
  const origin = known?.origin ?? source;
  const { baseUrl, parameters } = description;
  const image = { source, project, options };
  const signedPath = sign === null ? null : (result.loaded?.path ?? null);
  const code = snippets(
    baseUrl,
    image,
    accept,
    knownOf(result, facts, information, {
      site: URL.canParse(origin) ? new URL(origin).origin : origin,
      dpr: Number(options['dpr']) || (defaults['dpr'] ?? 1),
    }),
  );
  return (
    <div class="playground">
      <div class="card">
        <Title text="Playground" />
        <ProjectField session={session} value={project} onChange={setProject} />
        <TextField
          label="Picture URL"
          type="url"
          value={source}
          onChange={enterSource}
          placeholder="https://www.example.com/photo.jpg"
          help={
            source === '' || isSource(source)
              ? "An http or https URL on a host of the project's allowlist, or an image URL of this service, which fills the controls."
              : 'This is not a whole URL: it begins with http:// or https:// and a host.'
          }
        />
        <Samples project={project} near={origin} onChoose={setSource} />
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
      {isComplete ? (
        <Result
          result={result}
          original={original}
          information={information}
          url={signedPath === null ? imageUrl(baseUrl, image) : baseUrl + signedPath.slice(1)}
          isSigned={signedPath !== null}
          snippets={known?.requireSignedUrls === true ? code.filter(({ signs }) => signs) : code}
          onReload={() => setLoads(loads + 1)}
        />
      ) : (
        <Welcome session={session} hasProject={project !== ''} />
      )}
    </div>
  );
}

/** The address of this page, which may differ from the base URL of the service. */
const pageBase = (): string => new URL('.', location.href).href.replace(/\/+$/, '');

/** What snippets may state: nothing of an image before, while the next one is loading. */
function knownOf(
  result: ImageState,
  facts: ImageState,
  information: ImageFacts | null,
  page: Pick<PictureFacts, 'site' | 'dpr'>,
): Known {
  if (result.failure !== null || facts.failure !== null) return 'nothing';
  if (result.loading || facts.loading || result.loaded === null) return 'loading';
  if (information === null) return 'loading';
  const { loaded } = result;
  // A text, or an image that this browser cannot decode.
  if (loaded.width === 0) return 'nothing';
  const { width, height } = information.output;
  return { ...page, result: loaded, source: { ...information.source, width, height } };
}

function readInformation(text: string): ImageFacts | null {
  try {
    return JSON.parse(text) as ImageFacts;
  } catch {
    return null;
  }
}
