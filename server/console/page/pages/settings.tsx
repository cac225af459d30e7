import { useState } from 'preact/hooks';
import { useOpenProject } from '../app.ts';
import { ActionForm } from '../components/action-form.tsx';
import { documentPage } from '../components/document-page.tsx';
import { TextField } from '../components/fields.tsx';
import { linkTo } from '../route.ts';

export const Freshness = documentPage({
  title: 'Freshness',
  intro:
    'How images follow sources that change under the same URL. Without a source age, an image changes only after a purge, or with another v in its URL.',
  operation: 'putProjectFreshness',
  placeholders: {
    sourceAge: 'never',
    browserAge: 'a year',
    missingAge: "the service's",
    ignoredParameters: 'none',
  },
  saved: 'Saved. Images follow it within two seconds; browsers keep their images.',
});

export const Limits = documentPage({
  title: 'Limits',
  intro:
    'Daily limits (UTC), and what image URLs can request. Above a daily limit, the service refuses images that are not cached. Changing limits needs a root key.',
  operation: 'putProjectLimits',
  placeholders: {
    rendersPerDay: 'no limit',
    bytesPerDay: 'no limit',
    widths: 'any',
    qualities: 'any',
  },
  saved: 'Saved. Above a daily limit, the service refuses images that are not cached.',
});

export const Settings = documentPage({
  title: 'Settings',
  intro: "The project's name and site.",
  operation: 'updateProject',
  saved: 'Saved.',
  More: Deletion,
});

/** Deletes a project after the user types its name. */
function Deletion() {
  const { api, project, session } = useOpenProject();
  const [typed, setTyped] = useState('');
  const [isForced, setForced] = useState(false);
  const remove = async () => {
    await api.deleteProject({ projectId: project.id, force: isForced });
    location.hash = linkTo('/projects');
    session.removeProject(project);
    return '';
  };
  return (
    <section class="card narrow" aria-labelledby="deletion">
      <h2 id="deletion">Delete the project</h2>
      <p>
        This deletes its keys, presets, layers, private sources, secrets, usage and images. Its
        image URLs return 404. You cannot undo this.
      </p>
      <ActionForm
        label="Delete the project"
        submit="Delete the project"
        onSubmit={remove}
        disabled={typed.trim() !== project.name.trim()}
      >
        {() => (
          <>
            <TextField
              label="The name of the project"
              help={`Type ${project.name} to confirm.`}
              value={typed}
              onChange={setTyped}
            />
            <p>
              <label>
                <input
                  type="checkbox"
                  checked={isForced}
                  onChange={(event) => setForced(event.currentTarget.checked)}
                />{' '}
                Cancel waiting and running prewarms
              </label>
            </p>
          </>
        )}
      </ActionForm>
    </section>
  );
}
