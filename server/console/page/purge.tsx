import { useState } from 'preact/hooks';
import { useAction } from './action.ts';
import { SchemaFields } from './form.tsx';
import { countOf } from './format.ts';
import { FailureNotice } from './notice.tsx';
import { type ProjectProps, ProjectSection } from './project-section.tsx';
import { PurgeProgress } from './purge-progress.tsx';
import { moveFocus } from './route.ts';
import { bodyOf, fieldsOf, type Values } from './schema.ts';

/** Deletes cached images of sources that have changed. */
export function Purge({ api, project, description }: ProjectProps) {
  const { sources = {} } = description.schemas['PurgeInput']?.properties ?? {};
  const schema = { properties: { sources }, required: ['sources'] };
  const [values, setValues] = useState<Values>({});
  const [isConfirming, setConfirming] = useState(false);
  /** Of the last purge. */
  const [progressPath, setProgressPath] = useState<string | null>(null);
  const { run, message, failure } = useAction();
  const purge = (body: object) =>
    run(async () => {
      const path = `/projects/${project.id}`;
      const { purge, location } = await api('POST', `${path}/purge`, body);
      const { sourceCount } = purge;
      setProgressPath(location === null ? null : `${path}/${location}`);
      const what =
        sourceCount === 0 ? 'All images' : `The images of ${countOf(sourceCount, 'source')}`;
      return `${what} are purged. Within two seconds the service stops sending the old ones.`;
    });
  const purgeSources = async (event: Event) => {
    event.preventDefault();
    if (await purge(bodyOf(fieldsOf(schema), values))) setValues({});
  };
  const purgeAll = async () => {
    setConfirming(false);
    // The focused button has been removed.
    moveFocus('purge');
    await purge({ all: true });
  };
  return (
    <ProjectSection
      id="purge"
      title="Purge"
      intro={
        <>
          Deletes the cached images of pictures that have changed, in all sizes and formats. CDNs
          and browsers keep what they have: purge the CDN afterwards by the tags of the images, and
          change <code>v</code> in a URL for browsers.
        </>
      }
    >
      <form aria-labelledby="purge" onSubmit={purgeSources}>
        <SchemaFields
          schema={schema}
          values={values}
          onChange={setValues}
          placeholders={{ sources: `${project.origin.replace(/\/$/, '')}/photo.jpg` }}
        />
        <p class="row">
          <button type="submit" class="primary">
            Purge sources
          </button>
          {!isConfirming && (
            <button type="button" onClick={() => setConfirming(true)}>
              Purge all images …
            </button>
          )}
        </p>
        {isConfirming && (
          <p class="row">
            <span>Every image of {project.name} will be fetched and rendered again.</span>
            <button type="button" onClick={purgeAll}>
              Purge all images
            </button>
            <button type="button" onClick={() => setConfirming(false)}>
              Keep
            </button>
          </p>
        )}
      </form>
      <p role="status" class="quiet">
        {message}
      </p>
      <FailureNotice failure={failure} />
      {progressPath !== null && <PurgeProgress key={progressPath} api={api} path={progressPath} />}
    </ProjectSection>
  );
}
