import { useState } from 'preact/hooks';
import { ActionForm } from './action-form.tsx';
import { TextField } from './labelled.tsx';
import { launchCommand } from './launch-command.ts';
import { FailureNotice } from './notice.tsx';
import { moveFocus } from './route.ts';
import type { Session } from './session.ts';
import { Title } from './title.tsx';

export function SignIn({ session }: { readonly session: Session }) {
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
