import { useEffect, useMemo, useState } from 'preact/hooks';
import { Controls, defaultsOf } from './controls.tsx';
import { imagePath, imageUrl, isSource, type Options } from './image-url.ts';
import { type Interface, parametersIn } from './interface.ts';
import { browsers, useImage } from './load-image.ts';
import { keepPlace, type Place } from './place.ts';
import { ProjectField } from './project-field.tsx';
import { Result, type SourceFacts } from './result.tsx';
import { Samples, start } from './samples.tsx';
import type { Session } from './session.ts';
import { snippets } from './snippets.ts';
import { Welcome } from './welcome.tsx';

interface PlaygroundProps {
  readonly description: Interface;
  readonly place: Place;
  readonly session: Session;
}

/** At the highest quality without modern formats the output is the source, or nearly the same. */
const asItIs: Options = { q: '100' };
const plainBrowser = browsers[2][1];

/** A picture, its parameters and the result. The state is in the URL, which can be shared. */
export function Playground({ description, place, session }: PlaygroundProps) {
  const { project: givenProject = '', url: givenUrl = '', ...givenOptions } = place.query;
  const isFresh = givenProject === '' && givenUrl === '';
  const [project, setProject] = useState(isFresh ? start.project : givenProject);
  const [source, setSource] = useState(isFresh ? (start.pictures[0] ?? '') : givenUrl);
  const [options, setOptions] = useState<Options>(() =>
    givenUrl === '' ? { w: '800' } : parametersIn(givenOptions, description),
  );
  const [accept, setAccept] = useState<string>(browsers[0][1]);
  const [round, setRound] = useState(0);
  const only = session.projects?.length === 1 ? session.projects[0] : undefined;
  useEffect(() => {
    if (project === '' && only !== undefined) setProject(only.id);
  }, [project, only]);
  useEffect(() => keepPlace('/', { project, url: source, ...options }), [project, source, options]);

  const ready = project !== '' && isSource(source);
  const wanted = { source, project, options };
  const result = useImage(ready ? imagePath(wanted) : null, accept, round);
  const original = useImage(ready ? imagePath({ ...wanted, options: asItIs }) : null, plainBrowser);
  const factsOf = useImage(
    ready ? imagePath({ ...wanted, options: { fmt: 'json' } }) : null,
    plainBrowser,
  );
  const text = factsOf.loaded?.text ?? null;
  const facts = useMemo(() => (text === null ? null : readFacts(text)), [text]);
  const known = session.projects?.find(({ id }) => id === project);
  const origin = known?.origin ?? source;
  const density = Number(options['dpr']) || Number(defaultsOf(known ?? null)['dpr']);
  return (
    <div class="playground">
      <div class="card inputs">
        <h1>Playground</h1>
        <ProjectField session={session} value={project} onChange={setProject} />
        <div class="field">
          <label for="source">Picture URL</label>
          <input
            id="source"
            type="url"
            placeholder="https://www.example.com/photo.jpg"
            value={source}
            autocomplete="off"
            spellcheck={false}
            aria-describedby="source-help"
            onInput={(event) => setSource(event.currentTarget.value.trim())}
          />
          <p class="help" id="source-help">
            {source === '' || isSource(source)
              ? "An http or https URL on a host of the project's allowlist."
              : 'This is not a whole URL: it begins with http:// or https:// and a host.'}
          </p>
        </div>
        <Samples {...{ project, near: origin }} onChoose={setSource} />
        <Controls
          parameters={description.parameters}
          {...{ options, defaults: defaultsOf(known ?? null) }}
          onChange={setOptions}
        />
        <div class="field">
          <label for="browser">Show it as to a browser with</label>
          <select
            id="browser"
            value={accept}
            onChange={(event) => setAccept(event.currentTarget.value)}
          >
            {browsers.map(([name, value]) => (
              <option key={name} value={value}>
                {name}
              </option>
            ))}
          </select>
        </div>
      </div>
      {ready ? (
        <Result
          {...{ result, original, facts }}
          url={imageUrl(description.baseUrl, wanted)}
          snippets={snippets(description.baseUrl, wanted, accept, {
            site: URL.canParse(origin) ? new URL(origin).origin : origin,
            result: result.loaded?.url == null ? null : result.loaded,
            dpr: density,
            source: facts,
          })}
          onAgain={() => setRound(round + 1)}
        />
      ) : (
        <Welcome session={session} hasProject={project !== ''} />
      )}
    </div>
  );
}

function readFacts(text: string): SourceFacts | null {
  try {
    return (JSON.parse(text) as { source: SourceFacts }).source;
  } catch {
    return null;
  }
}
